// Writes the files that this folder reads: text, CSV, fixed records, TFRecords.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/formats/byte_sink.h"
#include "schema/records/csv_record.h"

namespace actorflow {

// Hands its output to the sink in pieces of about 1 MiB. All functions throw the sink's errors. Not
// thread-safe.
class DataWriter {
 public:
  explicit DataWriter(SinkRef sink) : sink_(std::move(sink)) {}

  // Appends the bytes as they are: fixed records, or any other format.
  void write(std::span<const std::byte> bytes);
  // Appends the line and an end of line. A line break within the line is not escaped: readers then see
  // two lines.
  void write_line(std::string_view line);
  template <Record T>
  void write_csv(const T& row, char delimiter = ',') {
    line_.clear();
    append_csv(row, line_, delimiter);
    write_line(line_);
  }
  void write_tfrecord(std::span<const std::byte> record);
  // Hands over what is left. Call it last.
  void finish();

  // The bytes so far, before compression.
  std::uint64_t bytes_written() const { return flushed_ + waiting_.size(); }

 private:
  void flush();

  SinkRef sink_;
  std::vector<std::byte> waiting_;
  std::uint64_t flushed_ = 0;
  std::string line_;
};

}  // namespace actorflow
