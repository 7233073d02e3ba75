// Parquet files, read by row groups: by Apache Arrow, in a module that is loaded when the first file is
// opened (README.md). No header here includes Arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/parquet/parquet_types.h"

namespace actorflow {

// The bytes of a file, which are read at any place.
struct ParquetBytes {
  std::string name;  // for errors
  std::uint64_t size = 0;
  std::function<void(std::uint64_t offset, std::span<std::byte> into)> read;
  // The most memory for the pages, with their dictionaries, of all columns that are read at once.
  std::uint64_t most_memory = std::uint64_t{512} << 20;
};

struct ParquetRowGroup {
  std::uint64_t begin = 0;  // in the file; not before that of the group before
  std::uint64_t rows = 0;
};

struct ParquetWanted {
  std::size_t column = 0;  // its number
  ParquetForm form = ParquetForm::integer;
};

// The values of some rows of a column, in the form that was asked for: one of the three.
struct ParquetValues {
  const std::int64_t* integers = nullptr;
  const double* reals = nullptr;
  const std::string_view* texts = nullptr;
  const std::uint8_t* present = nullptr;  // 0 for a row that is null; none: all have a value
};

// The rows of a row group in their order. Its memory is, for each column, a page of the file with its
// dictionary, the values of some thousand rows, and a buffer of 256 KiB: whatever size the group has.
class ParquetRows {
 public:
  virtual ~ParquetRows() = default;
  // Goes on to the next rows; returns their number, 0 at the end.
  virtual std::size_t next(std::size_t most) = 0;
  // The values of these rows, for the columns in the order in which they were wanted; valid until the
  // next call of any other function.
  virtual std::span<const ParquetValues> values() const = 0;
  // Passes over the next `rows` rows, or over all that are left.
  virtual void skip(std::uint64_t rows) = 0;
  virtual std::uint64_t file_bytes() const = 0;  // that the wanted columns of the group have
};

// A Parquet file. Throws what reading its bytes throws, and, naming the file: data_loss for one that is
// no Parquet file or is damaged, unimplemented for an encrypted one, invalid_argument for pages that
// are too large, resource_exhausted where the machine has no memory. Not thread-safe.
class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  virtual std::uint64_t bytes() const = 0;
  virtual const std::vector<ParquetColumn>& columns() const = 0;
  virtual const std::vector<ParquetRowGroup>& row_groups() const = 0;
  // REQUIRES: the columns have a form as they are wanted (takes_column()), and this file outlives the
  // rows.
  virtual std::unique_ptr<ParquetRows> rows(std::size_t row_group,
                                            std::span<const ParquetWanted> wanted) = 0;
};

// Reads the end of the file, where its schema is. Throws unimplemented, saying how to get it, where
// there is no module.
std::unique_ptr<ParquetFile> open_parquet(ParquetBytes bytes);
// False where the module is missing.
bool reads_parquet();
// Throws as open_parquet() where the module is missing.
void expect_parquet();

}  // namespace actorflow
