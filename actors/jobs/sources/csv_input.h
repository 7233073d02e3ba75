// The rows of the CSV files that a job reads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/formats/split.h"

namespace actorflow {

struct CsvInput {
  char delimiter = ',';
  bool header = false;  // the first line of each file has the names of the columns
  // With a header: the columns of these names are the record's, in their order; others are passed over.
  // Without names the columns are the record's as they stand, and all files must have the same header.
  std::vector<std::string> columns = {};
  // Quoted fields of rows, though not of the header, may have line breaks, as write_csv() writes them
  // where a text has some. Where a row begins is then known only from the file's beginning on: files are
  // not cut, so that one thread reads each.
  bool line_breaks = false;
};

// Where a record's columns stand in a file.
struct CsvFile {
  std::size_t columns = 0;          // of each row
  std::vector<std::size_t> places;  // of the record's; empty: the row is the record
};
using CsvFiles = std::vector<CsvFile>;

// Reads the headers of all files, in whose order the result is; it is empty if they have none. Throws
// invalid_argument for a header without a wanted column, or with two of that name, for files of
// different headers where no columns are named, and for named columns without a header; and what Storage
// throws.
std::shared_ptr<const CsvFiles> match_headers(Storage& storage, std::span<const FileSize> files,
                                              const CsvInput& input);

// The record's columns of a row, which `chosen` may hold. Throws invalid_argument for a row of another
// length than the header.
std::span<const std::string_view> choose_columns(const CsvFile& file,
                                                 std::span<const std::string_view> row,
                                                 std::vector<std::string_view>& chosen);

}  // namespace actorflow
