#include "actors/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "actors/safetensors.h"
#include "dataflow/error.h"
#include "schema/checkpoint_codec.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

constexpr std::string_view manifest_suffix = ".manifest";
constexpr std::string_view data_suffix = ".safetensors";
// A step that is saved once more: the first file stays whole until the new manifest stands.
constexpr std::string_view second_data_suffix = ".again.safetensors";

std::string file_name(std::int64_t step, std::string_view suffix) {
  return fmt::format("step-{}{}", step, suffix);
}

// The parts of "step-<n><suffix>"; a negative step for other names.
struct FileName {
  std::int64_t step = -1;
  std::string_view suffix;

  explicit FileName(std::string_view name) {
    constexpr std::string_view prefix = "step-";
    if (!name.starts_with(prefix)) return;
    name.remove_prefix(prefix.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    suffix = name.substr(static_cast<std::size_t>(end - name.data()));
    if (error != std::errc()) step = -1;
  }
};

// The steps that have a manifest, newest first.
std::set<std::int64_t, std::greater<>> saved_steps(Storage& storage, const std::string& folder) {
  std::set<std::int64_t, std::greater<>> steps;
  for (const auto& name : storage.list(folder))
    if (const FileName parts(name); parts.step >= 0 && parts.suffix == manifest_suffix)
      steps.insert(parts.step);
  return steps;
}

Manifest describe(const SafetensorsFile& file, std::int64_t global_step, const std::string& name) {
  Manifest manifest{global_step, {{name, 0, 0}}, {}};
  Checksum sum;
  for (const auto& part : file.parts()) {
    sum.update(part);
    manifest.files[0].size_bytes += part.size();
  }
  manifest.files[0].checksum = sum.value();
  for (const auto& entry : file.entries())
    manifest.tensors.push_back({entry.name, entry.tensor.dtype(), entry.tensor.shape(), 0, entry.offset,
                                entry.bytes.size(), checksum(entry.bytes)});
  return manifest;
}

// Removes the checkpoints before the newest `keep`, and what a crash or the saved step's earlier
// version has left. A manifest goes before its data: what remains is a checkpoint or no checkpoint.
void remove_old(Storage& storage, const std::string& folder, int keep, std::int64_t saved,
                const std::string& saved_data) {
  auto kept = saved_steps(storage, folder);
  while (kept.size() > static_cast<std::size_t>(std::max(keep, 1))) kept.erase(std::prev(kept.end()));
  kept.insert(saved);
  std::vector<std::string> removed;
  for (const auto& name : storage.list(folder)) {
    const FileName parts(name);
    const bool is_other_version =
        parts.step == saved && parts.suffix != manifest_suffix && name != saved_data;
    if (parts.step >= 0 && (is_other_version || !kept.contains(parts.step))) removed.push_back(name);
  }
  std::ranges::stable_partition(removed,
                                [](const auto& name) { return name.ends_with(manifest_suffix); });
  for (const auto& name : removed) storage.remove(folder + "/" + name);
}

Manifest read_manifest(Storage& storage, const std::string& path) {
  try {
    return decode_manifest(storage.read(path));
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

// A name for the data of a step that no valid checkpoint uses.
std::string free_data_name(Storage& storage, const std::string& folder, std::int64_t step) {
  std::string name = file_name(step, data_suffix);
  const std::string manifest = folder + "/" + file_name(step, manifest_suffix);
  if (!storage.exists(manifest)) return name;
  try {
    if (read_manifest(storage, manifest).files.at(0).name == name)
      return file_name(step, second_data_suffix);
  } catch (const std::exception&) {  // A manifest that cannot be read keeps nothing alive.
  }
  return name;
}

std::vector<std::byte> read_verified(Storage& storage, const std::string& folder,
                                     const Manifest::File& file, const std::string& manifest) {
  const std::string path = folder + "/" + file.name;
  const auto damaged = [&](const std::string& what) {
    return Error(Code::data_loss,
                 fmt::format("{}: {}; delete {} to use the checkpoint before it", path, what, manifest));
  };
  if (!storage.exists(path)) throw damaged("this file of the checkpoint is missing");
  auto bytes = storage.read(path);
  if (bytes.size() != file.size_bytes)
    throw damaged(fmt::format("expected {} bytes, but it has {}", file.size_bytes, bytes.size()));
  if (const auto sum = checksum(bytes); sum != file.checksum)
    throw damaged(fmt::format("expected the checksum {:016x}, but it is {:016x}", file.checksum, sum));
  return bytes;
}

}  // namespace

std::string save_checkpoint(Storage& storage, const std::string& folder, const Checkpoint& checkpoint,
                            int keep) {
  const std::int64_t step = checkpoint.global_step;
  const std::string data = free_data_name(storage, folder, step);
  const std::string manifest = folder + "/" + file_name(step, manifest_suffix);
  const SafetensorsFile file(checkpoint.tensors,
                             {{"format", "actorflow"}, {"global_step", std::to_string(step)}});
  const auto data_file = storage.create(folder + "/" + data);
  for (const auto& part : file.parts()) data_file->write(part);
  data_file->commit();
  storage.write_atomically(manifest, encode_manifest(describe(file, step, data)));
  remove_old(storage, folder, keep, step, data);
  return manifest;
}

std::optional<Checkpoint> load_latest_checkpoint(Storage& storage, const std::string& folder) {
  const auto steps = saved_steps(storage, folder);
  if (steps.empty()) return std::nullopt;
  const std::string path = folder + "/" + file_name(*steps.begin(), manifest_suffix);
  const Manifest manifest = read_manifest(storage, path);
  std::vector<std::vector<std::byte>> files;
  for (const auto& file : manifest.files) files.push_back(read_verified(storage, folder, file, path));
  Checkpoint checkpoint{manifest.global_step, {}};
  for (const auto& entry : manifest.tensors) {
    const auto bytes =
        std::span<const std::byte>(files[entry.file]).subspan(entry.offset, entry.size_bytes);
    checkpoint.tensors[entry.name] = unpack_tensor(entry.dtype, entry.shape, bytes);
  }
  return checkpoint;
}

std::uint64_t hash_of(const std::map<std::string, Tensor>& tensors) {
  const SafetensorsFile file(tensors, {});
  Checksum sum;
  for (const auto& part : file.parts()) sum.update(part);
  return sum.value();
}

}  // namespace actorflow
