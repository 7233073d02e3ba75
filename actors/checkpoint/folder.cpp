#include "actors/checkpoint/folder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include "actors/checkpoint/file_names.h"
#include "actors/checkpoint/removal.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Why there can be no such folder, whoever tries again; empty if nothing is known.
std::string what_is_in_the_way(Storage& storage, const std::string& folder) {
  try {
    storage.list(folder);
  } catch (const Error& error) {
    if (error.code() == Code::not_found || error.code() == Code::invalid_argument) return error.what();
  }
  return "";
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string manifest_path(const std::string& folder, std::int64_t step, std::int64_t epoch) {
  return folder + "/" + manifest_name(step, epoch);
}

std::string free_file_prefix(Storage& storage, const std::string& folder, std::int64_t step,
                             std::int64_t epoch) {
  const std::string first = name_begin(step, epoch) + ".";
  const std::string second = first + "again.";
  const std::string path = manifest_path(folder, step, epoch);
  if (!storage.exists(path)) return first;
  try {
    for (const auto& file : read_manifest(storage, path).files)
      if (file.name.starts_with(first) && !file.name.starts_with(second)) return second;
  } catch (const Error& error) {  // A damaged manifest keeps nothing alive.
    if (error.code() != Code::data_loss) throw;
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

void expect_folder_for(std::string_view what, Storage& storage, const std::string& folder) {
  try {
    storage.create(folder + "/writable");
  } catch (const Error& error) {
    if (error.code() == Code::resource_exhausted) return;
    const auto refuse = [&](Code code, std::string_view why) {
      throw Error(code, fmt::format("{} cannot be saved in '{}': {}", what, folder, why));
    };
    if (error.code() == Code::disk_error)
      if (const auto why = what_is_in_the_way(storage, folder); !why.empty())
        refuse(Code::failed_precondition, why);
    refuse(error.code(), error.what());
  }
}

std::int64_t newest_step(Storage& storage, const std::string& folder) {
  std::int64_t newest = -1;
  for (const auto& name : storage.list(folder)) newest = std::max(newest, FileName(name).step);
  return newest;
}

std::int64_t newest_epoch_in_names(const std::vector<std::string>& names) {
  std::int64_t newest = 0;
  for (const auto& name : names) newest = std::max(newest, FileName(name).epoch);
  return newest;
}

void remove_leftovers(Storage& storage, const std::string& folder, const std::vector<std::string>& names,
                      std::int64_t epoch) {
  try {
    const auto saved = saved_among(names);
    for (const auto& name : names)
      if (const FileName parts(name);
          parts.step >= 0 && !saved.contains(parts.step) && parts.epoch <= epoch)
        storage.remove(folder + "/" + name);
  } catch (const std::exception& error) {
    spdlog::warn("what saving has left in {} stays: {}", folder, error.what());
  }
}

void remove_checkpoints(Storage& storage, const std::string& folder, std::int64_t kept_step) {
  std::vector<std::string> manifests, files;
  for (const auto& name : storage.list(folder))
    if (const FileName parts(name); parts.step >= 0 && parts.step != kept_step)
      (parts.is_manifest() ? manifests : files).push_back(name);
  remove_in_turn(storage, folder, manifests, files);
}

void remove_unpublished(Storage& storage, const std::string& folder, std::int64_t step,
                        std::span<const std::string> files, std::int64_t epoch) {
  try {
    Manifest published;
    const std::string path = manifest_path(folder, step, epoch);
    if (storage.exists(path)) published = read_manifest(storage, path);
    for (const auto& file : files)
      if (!has_file(published, file)) storage.remove(folder + "/" + file);
  } catch (const std::exception& error) {
    spdlog::warn("what saving step {} has left in {} stays: {}", step, folder, error.what());
  }
}

std::string commit_checkpoint(Storage& storage, const std::string& folder, const Manifest& manifest,
                              const KeepOptions& keep, std::int64_t epoch) {
  const std::string path = manifest_path(folder, manifest.global_step, epoch);
  storage.write_atomically(path, encode_manifest(manifest));
  try {
    remove_others(storage, folder, manifest, keep, epoch);
  } catch (const std::exception& error) {
    spdlog::warn("{} was saved; older checkpoints stay: {}", path, error.what());
  }
  return path;
}

std::vector<std::string> list_checkpoints(Storage& storage, const std::string& folder) {
  const auto saved = saved_among(storage.list(expect_path("list_checkpoints", folder)));
  const auto overruled = overruled_steps(saved);
  std::vector<std::string> paths;
  for (const bool last_resort : {false, true})
    for (const auto& [step, epochs] : std::views::reverse(saved))
      if (overruled.contains(step) == last_resort)
        for (const auto epoch : std::views::reverse(epochs))
          paths.push_back(manifest_path(folder, step, epoch));
  return paths;
}

std::optional<std::string> latest_checkpoint(Storage& storage, const std::string& folder) {
  const auto paths = list_checkpoints(storage, folder);
  return paths.empty() ? std::nullopt : std::optional(paths.front());
}

Manifest read_manifest(Storage& storage, const std::string& path) {
  expect_path("read_manifest", path);
  try {
    return decode_manifest(storage.read(path));
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace actorflow
