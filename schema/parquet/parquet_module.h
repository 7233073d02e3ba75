// Between the libraries and the module that is built with Arrow. For this room only.
#pragma once

#include "schema/parquet/parquet_file.h"

namespace actorflow {

// What the module exports under this name; the caller owns the file.
using OpenParquet = ParquetFile* (*)(const ParquetBytes& bytes);
constexpr const char* open_parquet_name = "actorflow_open_parquet";

}  // namespace actorflow
