#include "schema/formats/tfrecord_file.h"

namespace actorflow {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;

}  // namespace

TfRecordFile::TfRecordFile(SourceRef source) : source_(std::move(source)), records_(source_->name()) {
  block_.resize(block_bytes);
}

std::optional<std::span<const std::byte>> TfRecordFile::next() {
  while (true) {
    offset_ = records_.offset_bytes();
    if (const auto record = records_.next()) return record;
    const std::size_t got = source_->read(block_);
    if (got == 0) {
      records_.finish();
      return std::nullopt;
    }
    records_.feed(std::span(block_).first(got));
  }
}

}  // namespace actorflow
