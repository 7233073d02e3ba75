#include "schema/formats/split.h"

#include <algorithm>
#include <string>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "schema/formats/compression.h"

namespace actorflow {
namespace {

class Packer {
 public:
  explicit Packer(std::uint64_t part_bytes) : part_bytes_(part_bytes) {}

  void add(const Split& split, std::uint64_t bytes) {
    if (parts_.empty() || bytes > room_) {
      parts_.emplace_back();
      room_ = part_bytes_;
    }
    parts_.back().push_back(split);
    room_ -= std::min(bytes, room_);
  }
  std::vector<std::vector<Split>> take() { return std::move(parts_); }

 private:
  std::uint64_t part_bytes_;
  std::uint64_t room_ = 0;  // in the last part
  std::vector<std::vector<Split>> parts_;
};

}  // namespace

void expect_not_cut(const FileSize& was, std::uint64_t bytes) {
  if (bytes >= was.bytes) return;
  throw Error(Code::data_loss, "'" + was.path + "' has " + std::to_string(bytes) + " bytes, but had " +
                                   std::to_string(was.bytes) +
                                   " when the job began: it was cut or written again. Run the job on "
                                   "files that stay as they are");
}

bool is_splittable(std::string_view path) {
  return compression_of(path) == Compression::none && !path.ends_with(".tfrecord") &&
         !path.ends_with(".tfrecords");
}

std::vector<std::vector<Split>> plan_splits(std::span<const FileSize> files, std::uint64_t split_bytes,
                                            const std::function<bool(std::string_view)>& splittable) {
  ACTORFLOW_CHECK(split_bytes > 0, "splits of", split_bytes, "bytes");
  Packer parts(split_bytes);
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::uint64_t bytes = files[file].bytes;
    if (bytes == 0) continue;
    if (!splittable(files[file].path)) {
      parts.add({file}, bytes);
      continue;
    }
    const std::uint64_t count = (bytes - 1) / split_bytes + 1;
    const std::uint64_t each = bytes / count, larger = bytes % count;  // so many have one byte more
    for (std::uint64_t i = 0, begin = 0; i < count; ++i) {
      const std::uint64_t size = each + (i < larger);
      parts.add({file, begin, begin + size}, size);
      begin += size;
    }
  }
  return parts.take();
}

}  // namespace actorflow
