#include <algorithm>
#include <array>

#include "schema/formats/element_reader.h"

namespace actorflow {
namespace {

constexpr std::uint8_t classes = 10;
const Shape image_shape{3, 32, 32};
constexpr std::size_t record_bytes = 1 + 3 * 32 * 32;

class Cifar10Reader final : public ElementReader {
 public:
  explicit Cifar10Reader(SourceRef source) : source_(std::move(source)) {}

  bool next(Tuple& element) override {
    std::array<std::byte, 1> label{};
    if (source_->read(label) == 0) return false;
    Tensor image = Tensor::allocate(DType::uint8, image_shape);
    const std::size_t got = source_->read(std::as_writable_bytes(image.mutable_values<std::uint8_t>()));
    if (got + 1 < record_bytes) throw truncated(got + 1);
    if (static_cast<std::uint8_t>(label[0]) >= classes)
      throw damaged("expected a label of 0 to 9, got " + std::to_string(static_cast<int>(label[0])) +
                    "; it is no binary version of CIFAR-10");
    ++position_;
    element = {std::move(image), Tensor::scalar(static_cast<std::uint8_t>(label[0]))};
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const auto most = static_cast<std::int64_t>(source_->most_bytes_left() / record_bytes + 1);
    const auto wanted = static_cast<std::uint64_t>(std::min(count, most)) * record_bytes;
    const auto passed = source_->skip(wanted);
    const auto records = static_cast<std::int64_t>(passed / record_bytes);
    position_ += records;
    if (passed % record_bytes != 0) throw truncated(passed % record_bytes);
    return records;
  }

 private:
  Error truncated(std::uint64_t got) const {
    return damaged("expected a record of " + std::to_string(record_bytes) +
                   " bytes, but the file ends "
                   "after " +
                   std::to_string(got) + " of them");
  }
  Error damaged(const std::string& what) const {
    const auto offset = static_cast<std::uint64_t>(position_) * record_bytes;
    return Error(Code::data_loss, source_->name() + ": record " + std::to_string(position_) +
                                      " at byte " + std::to_string(offset) + ": " + what);
  }

  SourceRef source_;
  std::int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ElementReader> read_cifar10(SourceRef source) {
  return std::make_unique<Cifar10Reader>(std::move(source));
}

}  // namespace actorflow
