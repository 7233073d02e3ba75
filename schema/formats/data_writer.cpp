#include "schema/formats/data_writer.h"

#include "schema/tfrecord.h"

namespace actorflow {
namespace {

constexpr std::size_t write_bytes = std::size_t{1} << 20;

}  // namespace

void DataWriter::write(std::span<const std::byte> bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  if (waiting_.size() >= write_bytes) flush();
}

void DataWriter::write_line(std::string_view line) {
  const auto bytes = std::as_bytes(std::span(line));
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  waiting_.push_back(std::byte{'\n'});
  if (waiting_.size() >= write_bytes) flush();
}

void DataWriter::write_tfrecord(std::span<const std::byte> record) {
  append_record(waiting_, record);
  if (waiting_.size() >= write_bytes) flush();
}

void DataWriter::finish() {
  flush();
  sink_->finish();
}

void DataWriter::flush() {
  if (!waiting_.empty()) sink_->write(waiting_);
  flushed_ += waiting_.size();
  waiting_.clear();
}

}  // namespace actorflow
