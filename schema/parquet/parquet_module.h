// Between the libraries and the module that is built with Arrow. For this folder only.
#pragma once

#include "schema/parquet/parquet_file.h"
#include "schema/parquet/parquet_writer.h"

namespace actorflow {

// The functions of the module. The caller owns what they return.
struct ParquetModule {
  ParquetFile* (*open)(const ParquetBytes& bytes);
  ParquetWriter* (*create)(const NewParquet& output);
};

// The function that the module exports. CMake derives its name from the headers that both sides include,
// so that a module that was built from other types is not accepted.
using GetParquetModule = ParquetModule (*)();

}  // namespace actorflow
