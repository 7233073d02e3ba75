#include <algorithm>
#include <array>

#include "schema/formats/array_header.h"
#include "schema/formats/element_reader.h"
#include "schema/formats/header_bytes.h"

namespace actorflow {
namespace {

class IdxReader final : public ElementReader {
 public:
  explicit IdxReader(SourceRef source)
      : source_(std::move(source)), header_(read_idx_header(*source_)) {}

  bool next(Tuple& element) override {
    if (position_ == header_.rows) return at_end();
    Tensor value = Tensor::allocate(DType::uint8, header_.row_shape);
    const std::size_t got = source_->read(std::as_writable_bytes(value.mutable_values<std::uint8_t>()));
    if (got < header_.row_bytes) throw truncated(got);
    ++position_;
    element = {std::move(value)};
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t wanted = std::min(count, header_.rows - position_);
    const auto bytes = static_cast<std::uint64_t>(wanted) * header_.row_bytes;
    if (const auto passed = source_->skip(bytes); passed < bytes) throw truncated(passed);
    position_ += wanted;
    return wanted;
  }

 private:
  std::uint64_t bytes_of(std::int64_t rows) const {
    return static_cast<std::uint64_t>(rows) * header_.row_bytes;
  }
  std::string expected() const {
    return "expected " + std::to_string(bytes_of(header_.rows)) + " bytes of values, but the file ";
  }

  // The end of a compressed file is seen, and its checksum verified, only by reading on.
  bool at_end() {
    std::array<std::byte, 1> more{};
    if (source_->read(more) > 0) throw damaged_file(*source_, expected() + "goes on after them");
    return false;
  }

  Error truncated(std::uint64_t got) const {
    return damaged_file(*source_, expected() + "ends after " +
                                      std::to_string(bytes_of(position_) + got) + "; it is truncated");
  }

  SourceRef source_;
  ArrayHeader header_;
  std::int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ElementReader> read_idx(SourceRef source) {
  return std::make_unique<IdxReader>(std::move(source));
}

}  // namespace actorflow
