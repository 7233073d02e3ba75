// Parquet files, written by row groups: by the module that reads them (parquet_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schema/parquet/parquet_file.h"
#include "schema/parquet/parquet_types.h"

namespace actorflow {

// How pages are compressed.
enum class ParquetCodec : std::uint8_t { none, snappy, gzip, lz4, zstd };

// A file in the making.
struct NewParquet {
  std::string name;                  // for errors
  std::vector<std::string> names;    // of the columns
  std::vector<ParquetField> fields;  // whose values they have
  ParquetCodec codec = ParquetCodec::zstd;
  std::function<void(std::span<const std::byte>)> write;  // what comes next in the file
};

// Throws what writing the bytes throws, and invalid_argument for a text that is not UTF-8, naming the
// column. Not thread-safe.
class ParquetWriter {
 public:
  virtual ~ParquetWriter() = default;
  // Writes a row group: the values of `rows` rows, for each field in its form.
  virtual void write(std::span<const ParquetValues> values, std::size_t rows) = 0;
  // Writes the schema and where the row groups are. Without this the file is not a Parquet file.
  virtual void finish() = 0;
};

// Throws unimplemented as open_parquet(). REQUIRES: a name for each field.
std::unique_ptr<ParquetWriter> create_parquet(const NewParquet& output);

}  // namespace actorflow
