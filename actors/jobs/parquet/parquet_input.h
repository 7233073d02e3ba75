// The rows of the Parquet files that a job reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/formats/split.h"
#include "schema/parquet/parquet_file.h"
#include "schema/parquet/parquet_types.h"

namespace actorflow {

// The columns that a job reads: names, and the fields that take them.
struct ParquetTable {
  std::vector<std::string> names;
  std::vector<ParquetField> fields;
  // Names the file with the largest row group, where that is much larger than a part should be: one
  // thread reads all of it. Empty if there is none.
  std::string warning;
};

// Opens all files and holds that they have these columns, in types that the fields take. Without names
// they are the first columns of the first file. Throws as open_parquet() and match_columns();
// invalid_argument unless there is a name for each field. `most_memory`: of one file at a time.
std::shared_ptr<const ParquetTable> check_parquet(Storage& storage, std::span<const FileSize> files,
                                                  std::vector<std::string> names,
                                                  std::vector<ParquetField> fields,
                                                  std::uint64_t split_bytes, std::uint64_t most_memory);

// How many rows there were, and how many of them were read.
struct ParquetSample {
  std::uint64_t rows = 0, read = 0;
};

// The rows of the row groups that begin in a split, some at a time. With a sample, which it adds to,
// short runs of rows from all over each group.
class ParquetSplit {
 public:
  // `most_memory`: for pages and their dictionaries. Throws data_loss if the file has become smaller.
  ParquetSplit(Storage& storage, const FileSize& file, const Split& split, const ParquetTable& table,
               std::uint64_t most_memory, ParquetSample* sample);

  // Goes on to the next rows; returns their number, 0 at the end.
  std::size_t next();
  std::span<const ParquetValues> values() const { return rows_->values(); }
  // Where these rows begin in the split, as if all rows of a group were of one size.
  std::uint64_t offset() const { return offset_of(row_ - shown_); }
  std::uint64_t end_offset() const { return offset_of(row_); }
  // Of these rows in the file, in the columns that are read: about.
  std::uint64_t bytes() const;
  // "row 17 of row group 2" and its values, for errors; from 0 on, in these rows.
  std::string place_of(std::size_t row) const;
  std::string text_of(std::size_t row) const;

 private:
  bool open_group();
  std::size_t wanted_here();
  std::uint64_t offset_of(std::uint64_t row) const;

  const Split split_;
  ParquetSample* const sample_;
  std::unique_ptr<ParquetFile> file_;
  std::vector<ParquetWanted> wanted_;
  std::size_t group_ = 0;  // the next one, or the one that is being read
  std::unique_ptr<ParquetRows> rows_;
  std::uint64_t row_ = 0;  // in the group, behind these
  std::size_t shown_ = 0;
};

}  // namespace actorflow
