// .npy files, plain and compressed: the rows of all splits are those of the whole file, and so are the
// lines of the same bytes.
#include "schema/formats/array_header.h"
#include "schema/formats/line_blocks.h"
#include "test/fuzz/support/data_file.h"

using namespace actorflow;

namespace {

// The bytes that a reader of splits gives, of splits of that size. `open(split)` makes the reader.
template <class Open>
std::size_t read_splits(std::uint64_t file_bytes, std::uint64_t split_bytes, Open&& open) {
  std::size_t bytes = 0;
  for (std::uint64_t begin = 0; begin < file_bytes; begin += split_bytes) {
    auto reader = open(Split{0, begin, begin + split_bytes});
    for (auto some = reader.next(); !some.empty(); some = reader.next()) bytes += some.size();
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto input = fuzz::input(data, size);
  const std::size_t least_bytes = std::size_t{1} + fuzz::take<std::uint8_t>(input);
  const LineLimits limits{.block_bytes = std::size_t{1} + fuzz::take<std::uint8_t>(input)};
  std::string file;
  fuzz::accepts([&] {
    const auto source = test::memory(fuzz::text(input));
    file.resize(1 << 16);  // a bomb's beginning
    file.resize(source->read(std::as_writable_bytes(std::span(file))));
  });
  const std::size_t split_bytes = std::max(least_bytes, file.size() / 16);
  const std::size_t lines = read_splits(file.size(), split_bytes, [&](const Split& split) {
    return LineBlocks(test::plain(file), split, limits);
  });
  fuzz::require(lines == file.size(), "each line is of one split");
  fuzz::accepts([&] {
    const ArrayHeader header = read_npy_header(*test::plain(file));
    const std::size_t rows = read_splits(file.size(), split_bytes, [&](const Split& split) {
      return RecordBlocks(test::plain(file), row_records(header), split, limits.block_bytes);
    });
    fuzz::require(rows == header.row_bytes * static_cast<std::size_t>(header.rows),
                  "each row is of one split");
  });
  return 0;
}
