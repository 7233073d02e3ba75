#include <algorithm>
#include <array>

#include "schema/formats/element_reader.h"

namespace actorflow {
namespace {

constexpr std::byte unsigned_bytes{0x08};

class IdxReader final : public ElementReader {
 public:
  explicit IdxReader(SourceRef source) : source_(std::move(source)) { read_header(); }

  bool next(Tuple& element) override {
    if (position_ == count_) return at_end();
    Tensor value = Tensor::allocate(DType::uint8, shape_);
    const std::size_t got = source_->read(std::as_writable_bytes(value.mutable_values<std::uint8_t>()));
    if (got < element_bytes_) throw truncated(position_, got);
    ++position_;
    element = {std::move(value)};
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t wanted = std::min(count, count_ - position_);
    const auto bytes = static_cast<std::uint64_t>(wanted) * element_bytes_;
    if (const auto passed = source_->skip(bytes); passed < bytes) throw truncated(position_, passed);
    position_ += wanted;
    return wanted;
  }

 private:
  void read_header() {
    std::array<std::byte, 4> magic{};
    read_part(magic);
    if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || magic[2] != unsigned_bytes ||
        magic[3] == std::byte{0} || static_cast<int>(magic[3]) > Shape::max_rank)
      throw damaged("expected an IDX file of unsigned bytes, which begins with 00 00 08 and the number of "
                    "dimensions (1 to " +
                    std::to_string(Shape::max_rank) + "), but it begins with" + hexadecimal(magic));
    for (int axis = 0; axis < static_cast<int>(magic[3]); ++axis) {
      std::array<std::byte, 4> dim{};
      read_part(dim);
      std::int64_t size = 0;
      for (const auto byte : dim) size = size << 8 | static_cast<std::int64_t>(byte);
      if (axis == 0)
        count_ = size;
      else
        shape_.push_back(size);
    }
    check_size();
  }

  // Before memory is taken.
  void check_size() {
    Shape all;
    all.push_back(count_);
    for (const auto dim : shape_.dims()) all.push_back(dim);
    try {
      bytes_ = static_cast<std::uint64_t>(all.elements());
      element_bytes_ = static_cast<std::size_t>(shape_.elements());
    } catch (const Error&) {
      throw damaged("the header announces the impossible shape " + all.to_string());
    }
    if (count_ > 0 && element_bytes_ == 0)
      throw damaged("the header announces " + std::to_string(count_) + " elements without bytes, in the shape " +
                    all.to_string());
    if (const auto most = source_->most_bytes_left(); bytes_ > most)
      throw damaged("expected " + std::to_string(bytes_) + " bytes for the shape " + all.to_string() +
                    ", but the file can hold " + std::to_string(most) +
                    " at most; it is truncated or its header is wrong");
  }

  void read_part(std::array<std::byte, 4>& part) {
    const std::size_t got = source_->read(part);
    if (got < part.size())
      throw damaged("expected an IDX header, but the file ends after " + std::to_string(header_ + got) +
                    " bytes");
    header_ += got;
  }

  // The end of a compressed file is seen, and its checksum verified, only by reading on.
  bool at_end() {
    std::array<std::byte, 1> more{};
    if (source_->read(more) > 0)
      throw damaged("expected " + std::to_string(bytes_) + " bytes of values, but the file goes on after "
                    "them");
    return false;
  }

  Error truncated(std::int64_t element, std::uint64_t got) const {
    return damaged("expected " + std::to_string(bytes_) + " bytes of values, but the file ends after " +
                   std::to_string(static_cast<std::uint64_t>(element) * element_bytes_ + got) +
                   "; it is truncated");
  }

  Error damaged(const std::string& what) const {
    return Error(Code::data_loss, source_->name() + ": " + what + "; replace the file");
  }

  static std::string hexadecimal(std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const auto byte : bytes) {
      const auto value = static_cast<unsigned>(byte);
      text += {' ', digits[value >> 4], digits[value & 15]};
    }
    return text;
  }

  SourceRef source_;
  std::size_t header_ = 0;  // bytes read of it
  std::int64_t count_ = 0;
  Shape shape_;  // of an element
  std::uint64_t bytes_ = 0;
  std::size_t element_bytes_ = 0;
  std::int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ElementReader> read_idx(SourceRef source) {
  return std::make_unique<IdxReader>(std::move(source));
}

}  // namespace actorflow
