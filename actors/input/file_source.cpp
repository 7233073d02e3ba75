#include "actors/input/file_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

class FileSource final : public ByteSource {
 public:
  FileSource(Storage& storage, const std::string& path)
      : name_(path), file_(storage.open(path)), size_(file_->size_bytes()) {}

  std::size_t read(std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      if (at_ == block_.size() && to.size() - done >= next_block_bytes())
        return done + read_past_block(to.subspan(done));
      if (!fill()) break;
      const std::size_t part = std::min(to.size() - done, block_.size() - at_);
      std::memcpy(to.data() + done, block_.data() + at_, part);
      at_ += part;
      done += part;
    }
    return done;
  }

  std::uint64_t skip(std::uint64_t bytes) override {
    const std::uint64_t skipped = std::min(bytes, most_bytes_left());
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(skipped, block_.size() - at_));
    at_ += here;
    next_block_ += skipped - here;
    return skipped;
  }

  std::uint64_t most_bytes_left() override { return block_.size() - at_ + (size_ - next_block_); }
  const std::string& name() const override { return name_; }

 private:
  std::size_t next_block_bytes() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, size_ - next_block_));
  }
  // For who takes a block or more at a time, or all that is left; ours is empty.
  std::size_t read_past_block(std::span<std::byte> to) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), size_ - next_block_));
    if (part > 0) file_->read(next_block_, to.first(part));
    next_block_ += part;
    return part;
  }

  // Makes sure that there are bytes in the block; false at the end of the file.
  bool fill() {
    if (at_ < block_.size()) return true;
    block_.resize(next_block_bytes());
    at_ = 0;
    if (block_.empty()) return false;
    file_->read(next_block_, block_);
    next_block_ += block_.size();
    return true;
  }

  std::string name_;
  std::unique_ptr<OpenFile> file_;
  std::uint64_t size_;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;            // in the block
  std::uint64_t next_block_ = 0;  // where it begins in the file
};

}  // namespace

std::unique_ptr<ByteSource> open_data_file(Storage& storage, const std::string& path) {
  return decompressed(std::make_unique<FileSource>(storage, path));
}

std::unique_ptr<ByteSource> open_data_file(Storage& storage, const std::string& path,
                                           Compression compression) {
  return decompressed(std::make_unique<FileSource>(storage, path), compression);
}

std::unique_ptr<ByteSource> open_data_file_or_gzip(Storage& storage, const std::string& path) {
  if (storage.exists(path)) return open_data_file(storage, path);
  const std::string compressed = path + ".gz";
  if (storage.exists(compressed)) return open_data_file(storage, compressed);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(Code::not_found, fmt::format("{} is a folder; give the path of a data file", path));
  // A relative path is understood from wherever the program was started.
  const std::filesystem::path here = std::filesystem::current_path(ignored);
  const bool is_relative = std::filesystem::path(path).is_relative();
  throw Error(Code::not_found,
              fmt::format("there is no data file {} or {}{}; give the path of one", path, compressed,
                          is_relative ? fmt::format(" in the current folder {}", here.string()) : ""));
}

}  // namespace actorflow
