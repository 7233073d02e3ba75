#include "actors/models/text/text_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "actors/input/draw.h"
#include "actors/input/file_source.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string contents_of(Storage& storage, const std::string& path) {
  const auto source = open_data_file_or_gzip(storage, expect_path("load_text", path));
  std::string text;
  std::array<std::byte, 1 << 16> part;
  while (const std::size_t got = source->read(part))
    text.append(reinterpret_cast<const char*>(part.data()), got);
  return text;
}

Tensor numbers_of(std::span<const std::int64_t> numbers) {
  return Tensor::of<std::int64_t>({std::ssize(numbers)}, {numbers.begin(), numbers.end()});
}

// The number of places where an example may begin.
std::int64_t places_of(const Tensor& text, std::int64_t length) {
  if (length < 1 || text.elements() <= length)
    throw invalid_argument(
        fmt::format("a text of {} characters has no block of {} with a character after it; choose a "
                    "length of 1 or more that is below the text's",
                    text.elements(), length));
  if (text.elements() > std::numeric_limits<std::uint32_t>::max())
    throw Error(
        Code::resource_exhausted,
        fmt::format("a text of {} characters is too long; give one below 2^32", text.elements()));
  return text.elements() - length;
}

// Elements are the blocks that begin where `place` says. `count` elements; then the end.
template <class Place>
class BlocksStage final : public Stage {
 public:
  BlocksStage(Tensor text, std::int64_t length, std::int64_t count, Place place)
      : text_(std::move(text)), length_(length), count_(count), place_(std::move(place)) {}

  void restart(std::int64_t) override { position_ = 0; }
  bool next(Tuple& element) override {
    if (position_ == count_) return false;
    const std::int64_t place = place_(position_++);
    element = {block_at(place), block_at(place + 1)};
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, count_ - position_);
    position_ += skipped;
    return skipped;
  }

 private:
  Tensor block_at(std::int64_t place) const {
    return numbers_of(text_.values<std::int64_t>().subspan(static_cast<std::size_t>(place),
                                                           static_cast<std::size_t>(length_)));
  }

  Tensor text_;
  std::int64_t length_, count_;
  Place place_;
  std::int64_t position_ = 0;
};

template <class Place>
Dataset blocks(const Tensor& text, std::int64_t length, std::int64_t count, Place place) {
  return Dataset([=](const InputContext&) -> StageRef {
    return std::make_unique<BlocksStage<Place>>(text, length, count, place);
  });
}

}  // namespace

TextData load_text(Storage& storage, const std::string& path, double share) {
  if (!(share > 0 && share < 1))
    throw invalid_argument(
        fmt::format("expected a share for validation above 0 and below 1, got {}", share));
  const std::string text = contents_of(storage, path);
  try {
    const Vocabulary vocabulary = Vocabulary::of(text);
    const std::vector<std::int64_t> all = vocabulary.encode(text);
    const auto train = static_cast<std::size_t>(static_cast<double>(all.size()) * (1 - share));
    return {vocabulary, numbers_of(std::span(all).first(train)),
            numbers_of(std::span(all).subspan(train))};
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

Dataset random_blocks(const Tensor& text, std::int64_t length, std::uint64_t seed) {
  const auto places = static_cast<std::uint32_t>(places_of(text, length));
  return blocks(text, length, std::numeric_limits<std::int64_t>::max(), [=](std::int64_t number) {
    auto random = engine_of(seed, number);
    return static_cast<std::int64_t>(draw_below(random, places));
  });
}

Dataset consecutive_blocks(const Tensor& text, std::int64_t length) {
  const std::int64_t places = places_of(text, length);
  return blocks(text, length, (places - 1) / length + 1,
                [length](std::int64_t number) { return number * length; });
}

}  // namespace actorflow
