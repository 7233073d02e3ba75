// The values of columns, decoded by Arrow, in the forms that records take.
#pragma once

#include <parquet/column_reader.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "schema/parquet/parquet_file.h"

namespace actorflow {

// The description of a column in our types.
ParquetColumn describe(const parquet::ColumnDescriptor& column);

// A column of a row group, some rows at a time.
class ArrowColumn {
 public:
  virtual ~ArrowColumn() = default;

  // The number of decoded rows that have not been passed; decodes some more if there are none.
  std::size_t available();
  void pass(std::size_t rows) { at_ += rows; }
  // Rows that are passed over need not be decoded. Returns how many there were.
  std::uint64_t skip(std::uint64_t rows);
  // The decoded values from the next row on.
  virtual ParquetValues values() const = 0;

 protected:
  static constexpr std::size_t most_rows = 4096;

  // Decodes at most most_rows; returns how many.
  virtual std::size_t decode() = 0;
  virtual std::uint64_t skip_undecoded(std::uint64_t rows) = 0;
  std::size_t at() const { return at_; }

 private:
  std::size_t at_ = 0, decoded_ = 0;
};

std::unique_ptr<ArrowColumn> make_column(std::shared_ptr<parquet::ColumnReader> reader,
                                         ParquetForm form);

}  // namespace actorflow
