// Writes the files that this room reads: text, CSV, fixed records, TFRecords.
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

// Gives its sink pieces of about 1 MiB. Throws the sink's errors. Not thread-safe.
class DataWriter {
 public:
  explicit DataWriter(SinkRef sink) : sink_(std::move(sink)) {}

  // Fixed records, or whatever else has its own form.
  void write(std::span<const std::byte> bytes);
  // With an end of line; a line break within the line makes two of it.
  void write_line(std::string_view line);
  template <Record T>
  void write_csv(const T& row, char delimiter = ',') {
    line_.clear();
    append_csv(row, line_, delimiter);
    write_line(line_);
  }
  void write_tfrecord(std::span<const std::byte> record);
  // The last call.
  void finish();

  // So far, before compression.
  std::uint64_t bytes_written() const { return flushed_ + waiting_.size(); }

 private:
  void flush();

  SinkRef sink_;
  std::vector<std::byte> waiting_;
  std::uint64_t flushed_ = 0;
  std::string line_;
};

}  // namespace actorflow
