// The parts of the files of a job's input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// The bytes [begin, end) of a file. What begins in there - a line, a record - belongs to the split with
// all of its bytes. A file that cannot be cut is the split [0, to_its_end).
struct Split {
  static constexpr std::uint64_t to_its_end = std::numeric_limits<std::uint64_t>::max();

  std::size_t file = 0;  // its index
  std::uint64_t begin = 0;
  std::uint64_t end = to_its_end;

  bool operator==(const Split&) const = default;
};

struct FileSize {
  std::string path;
  std::uint64_t bytes = 0;
};

// Throws data_loss if the file has become smaller than it was: its last splits would give nothing.
void expect_not_cut(const FileSize& was, std::uint64_t bytes);

constexpr std::uint64_t default_split_bytes = std::uint64_t{64} << 20;

// False for compressed files and TFRecords, by their extensions (.gz, .zst, .lz4; .tfrecord,
// .tfrecords).
bool is_splittable(std::string_view path);

// The parts of a job's input, in the order of the files and of their bytes. Files above `split_bytes`
// are cut into equal splits of at most that size; small ones are packed into one part as long as they
// fit. Depends on nothing but its arguments. Empty files are in no part.
std::vector<std::vector<Split>> plan_splits(
    std::span<const FileSize> files, std::uint64_t split_bytes = default_split_bytes,
    const std::function<bool(std::string_view path)>& splittable = is_splittable);

}  // namespace actorflow
