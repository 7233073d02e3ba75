#include "actors/checkpoint/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <vector>

#include "dataflow/error.h"

namespace actorflow {
namespace {

constexpr std::string_view manifest_suffix = ".manifest";

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

// The steps that have a manifest.
std::set<std::int64_t> saved_steps(Storage& storage, const std::string& folder) {
  std::set<std::int64_t> steps;
  for (const auto& name : storage.list(folder))
    if (const FileName parts(name); parts.step >= 0 && parts.suffix == manifest_suffix)
      steps.insert(parts.step);
  return steps;
}

// Those of the steps, in their order, that stay because so much time has passed since the one before.
std::set<std::int64_t> kept_by_time(Storage& storage, const std::string& folder,
                                    std::span<const std::int64_t> steps, double hours) {
  std::set<std::int64_t> kept;
  if (hours <= 0) return kept;
  std::optional<std::int64_t> last_s;
  for (const auto step : steps) try {
      const auto saved_s = read_manifest(storage, manifest_path(folder, step)).saved_at_s;
      if (last_s && static_cast<double>(saved_s - *last_s) < hours * 3600) continue;
      last_s = saved_s;
      kept.insert(step);
    } catch (const Error&) {  // What cannot be read need not stay.
    }
  return kept;
}

std::set<std::int64_t> steps_to_keep(Storage& storage, const std::string& folder,
                                     const KeepOptions& keep) {
  const auto saved = saved_steps(storage, folder);
  const std::vector<std::int64_t> steps(saved.begin(), saved.end());
  if (keep.max_to_keep <= 0 || steps.size() <= static_cast<std::size_t>(keep.max_to_keep)) return saved;
  const std::size_t old = steps.size() - static_cast<std::size_t>(keep.max_to_keep);
  auto kept =
      kept_by_time(storage, folder, std::span(steps).first(old), keep.keep_checkpoint_every_n_hours);
  kept.insert(steps.begin() + static_cast<std::ptrdiff_t>(old), steps.end());
  return kept;
}

// A manifest goes before its files: what remains is a checkpoint or no checkpoint.
void remove_others(Storage& storage, const std::string& folder, const Manifest& saved,
                   const std::set<std::int64_t>& kept) {
  std::vector<std::string> removed;
  for (const auto& name : storage.list(folder)) {
    const FileName parts(name);
    const bool is_other_version = parts.step == saved.global_step && parts.suffix != manifest_suffix &&
                                  std::ranges::find(saved.files, name, &Manifest::File::name) ==
                                      saved.files.end();
    if (parts.step >= 0 && (is_other_version || !kept.contains(parts.step))) removed.push_back(name);
  }
  std::ranges::stable_partition(removed,
                                [](const auto& name) { return name.ends_with(manifest_suffix); });
  for (const auto& name : removed) storage.remove(folder + "/" + name);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string manifest_path(const std::string& folder, std::int64_t step) {
  return fmt::format("{}/step-{}{}", folder, step, manifest_suffix);
}

std::string free_file_prefix(Storage& storage, const std::string& folder, std::int64_t step) {
  const std::string first = fmt::format("step-{}.", step), second = first + "again.";
  const std::string path = manifest_path(folder, step);
  if (!storage.exists(path)) return first;
  try {
    for (const auto& file : read_manifest(storage, path).files)
      if (!file.name.starts_with(second)) return second;
  } catch (const Error&) {  // A manifest that cannot be read keeps nothing alive.
  }
  return first;
}

std::string data_file_name(const std::string& prefix, int k, int count) {
  return fmt::format("{}{}-of-{}.safetensors", prefix, k, count);
}

Manifest merge_manifests(std::span<const Manifest> parts, std::int64_t global_step) {
  Manifest merged;
  merged.global_step = global_step;
  for (const auto& part : parts) {
    const auto first_file = static_cast<std::uint32_t>(merged.files.size());
    merged.files.insert(merged.files.end(), part.files.begin(), part.files.end());
    for (auto entry : part.tensors) {
      entry.file += first_file;
      merged.tensors.push_back(std::move(entry));
    }
  }
  return merged;
}

void remove_leftovers(Storage& storage, const std::string& folder) {
  const auto saved = saved_steps(storage, folder);
  for (const auto& name : storage.list(folder))
    if (const FileName parts(name); parts.step >= 0 && !saved.contains(parts.step))
      storage.remove(folder + "/" + name);
}

std::string commit_checkpoint(Storage& storage, const std::string& folder, const Manifest& manifest,
                              const KeepOptions& keep) {
  const std::string path = manifest_path(folder, manifest.global_step);
  storage.write_atomically(path, encode_manifest(manifest));
  auto kept = steps_to_keep(storage, folder, keep);
  kept.insert(manifest.global_step);
  remove_others(storage, folder, manifest, kept);
  return path;
}

std::vector<std::string> list_checkpoints(Storage& storage, const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto step : saved_steps(storage, folder)) paths.push_back(manifest_path(folder, step));
  std::ranges::reverse(paths);
  return paths;
}

std::optional<std::string> latest_checkpoint(Storage& storage, const std::string& folder) {
  const auto steps = saved_steps(storage, folder);
  if (steps.empty()) return std::nullopt;
  return manifest_path(folder, *steps.rbegin());
}

Manifest read_manifest(Storage& storage, const std::string& path) {
  try {
    return decode_manifest(storage.read(path));
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace actorflow
