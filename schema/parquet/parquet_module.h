// Between the libraries and the module that is built with Arrow. For this room only.
#pragma once

#include "schema/parquet/parquet_file.h"

namespace actorflow {

// What the module exports; the caller owns the file. CMake makes its name, of what both sides include, so
// that a module is not found to be one if it was built of other types.
using OpenParquet = ParquetFile* (*)(const ParquetBytes& bytes);

}  // namespace actorflow
