// Between the libraries and the module that is built with Arrow. For this room only.
#pragma once

#include "schema/parquet/parquet_file.h"
#include "schema/parquet/parquet_writer.h"

namespace actorflow {

// The caller owns what they give.
struct ParquetModule {
  ParquetFile* (*open)(const ParquetBytes& bytes);
  ParquetWriter* (*create)(const NewParquet& output);
};

// What the module exports. CMake makes its name, of what both sides include, so that a module is not
// found to be one if it was built of other types.
using GetParquetModule = ParquetModule (*)();

}  // namespace actorflow
