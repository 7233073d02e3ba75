#include "actors/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "actors/checkpoint/extra_state.h"
#include "actors/checkpoint/files/file_writer.h"
#include "actors/checkpoint/files/reader.h"
#include "actors/checkpoint/files/safetensors.h"
#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/folder_epoch.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

// Damage, with what to do about it.
Error unusable(const std::string& what, const std::string& manifest_path) {
  return {Code::data_loss,
          fmt::format("{}; delete {} to use the checkpoint before it", what, manifest_path)};
}

std::vector<TensorRange> all_tensors(const Manifest& manifest) {
  std::vector<TensorRange> ranges;
  for (const auto& [name, pieces] : pieces_by_name(manifest))
    if (!is_extra(name)) ranges.push_back({name});
  return ranges;
}

}  // namespace

Checkpoint load_checkpoint(Storage& storage, const std::string& path) {
  const Manifest manifest = read_manifest(storage, path);
  const auto ranges = all_tensors(manifest);
  try {
    CheckpointReader reader(storage, folder_of(path), manifest, ranges);
    reader.read_all();
    auto tensors = reader.take();
    Checkpoint checkpoint{manifest.global_step, {}, manifest.saved_at_s};
    for (std::size_t i = 0; i < ranges.size(); ++i)
      checkpoint.tensors[ranges[i].name] = std::move(tensors[i]);
    return checkpoint;
  } catch (const Error& error) {
    if (error.code() != Code::data_loss && error.code() != Code::not_found) throw;
    throw unusable(error.what(), path);
  }
}

std::optional<Checkpoint> load_latest_checkpoint(Storage& storage, const std::string& folder) {
  const auto latest = latest_checkpoint(storage, folder);
  if (!latest) return std::nullopt;
  return load_checkpoint(storage, *latest);
}

std::string save_checkpoint(Storage& storage, const std::string& folder, const Checkpoint& checkpoint,
                            const KeepOptions& keep, std::int64_t epoch) {
  check_folder_epoch(storage, expect_path("save_checkpoint", folder), epoch);
  const std::int64_t step = checkpoint.global_step;
  std::vector<SavedTensor> tensors;
  for (const auto& [name, tensor] : checkpoint.tensors)
    tensors.push_back({name, name, "", 0, -1, tensor});
  CheckpointFileWriter writer(storage, folder,
                              data_file_name(free_file_prefix(storage, folder, step, epoch), 1, 1), step,
                              std::move(tensors));
  while (writer.write_some()) {
  }
  Manifest manifest = writer.commit();
  manifest.saved_at_s = checkpoint.saved_at_s;
  manifest.one_step = true;
  return commit_checkpoint(storage, folder, manifest, keep, epoch);
}

std::uint64_t hash_of(const std::map<std::string, Tensor>& tensors) {
  const SafetensorsFile file(tensors, {});
  Checksum sum;
  sum.update(file.header());
  for (const auto& entry : file.entries()) sum.update(entry.bytes);
  return sum.value();
}

}  // namespace actorflow
