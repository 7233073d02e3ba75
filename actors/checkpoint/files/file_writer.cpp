#include "actors/checkpoint/files/file_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

std::map<std::string, Tensor> by_stored_name(const std::vector<SavedTensor>& tensors) {
  std::map<std::string, Tensor> named;
  for (const auto& saved : tensors)
    if (!named.emplace(saved.stored_name, saved.tensor).second)
      throw invalid_argument(
          fmt::format("two tensors of a checkpoint are named '{}'; give the variable another name",
                      saved.stored_name));
  return named;
}

}  // namespace

CheckpointFileWriter::CheckpointFileWriter(Storage& storage, const std::string& folder,
                                           const std::string& name, std::int64_t global_step,
                                           std::vector<SavedTensor> tensors) {
  layout_ = std::make_unique<SafetensorsFile>(
      by_stored_name(tensors),
      std::map<std::string, std::string>{{"format", "actorflow"},
                                         {"global_step", std::to_string(global_step)}});
  std::ranges::sort(tensors, {}, &SavedTensor::stored_name);
  const auto header = layout_->header();
  manifest_.global_step = global_step;
  manifest_.files = {{name, layout_->size_bytes(), header.size(), checksum(header)}};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto& saved = tensors[i];
    const auto& entry = layout_->entries()[i];
    manifest_.tensors.push_back({std::move(saved.name),
                                 std::move(saved.variable),
                                 entry.tensor.dtype(),
                                 entry.tensor.shape(),
                                 saved.first_row,
                                 saved.full_rows,
                                 0,
                                 entry.offset,
                                 entry.bytes.size(),
                                 {}});
  }
  file_ = storage.create(folder + "/" + name);
  file_->write(header);
}

// Empty if all of the entry has been written.
std::span<const std::byte> CheckpointFileWriter::next_block() {
  const auto bytes = layout_->entries()[entry_].bytes.subspan(written_);
  return bytes.first(std::min<std::uint64_t>(bytes.size(), manifest_.block_bytes));
}

bool CheckpointFileWriter::write_some() {
  std::uint64_t left = manifest_.block_bytes;
  while (entry_ < manifest_.tensors.size() && left > 0) {
    const auto block = next_block();
    if (block.empty()) {
      layout_->release(entry_++);
      written_ = 0;
      continue;
    }
    manifest_.tensors[entry_].checksums.push_back(checksum(block));
    file_->write(block);
    written_ += block.size();
    left -= std::min<std::uint64_t>(left, block.size());
  }
  return entry_ < manifest_.tensors.size();
}

Manifest CheckpointFileWriter::commit() {
  file_->commit();
  return std::move(manifest_);
}

}  // namespace actorflow
