// Parquet files, written by Arrow.
#pragma once

#include "schema/parquet/parquet_writer.h"

namespace actorflow {

// The caller owns the writer.
ParquetWriter* create_arrow_writer(const NewParquet& output);

}  // namespace actorflow
