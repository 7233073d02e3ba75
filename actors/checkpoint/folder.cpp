#include "actors/checkpoint/folder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <vector>

#include "actors/checkpoint/damage.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::string_view manifest_suffix = ".manifest";

// The number behind a prefix, which both are taken off; -1 if the text does not begin so.
std::int64_t take_number(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return -1;
  std::int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Whether this stands behind the step in the name of a file that a checkpoint consists of, or of one in
// the making (".<process>-<number>.tmp", file_storage.cpp).
bool is_suffix(std::string_view text) {
  if (!take_word(text, manifest_suffix)) {
    take_word(text, ".again");
    if (take_number(text, ".") < 0 || take_number(text, "-of-") < 0 || !take_word(text, ".safetensors"))
      return false;
  }
  return text.empty() || (text.starts_with('.') && text.ends_with(".tmp"));
}

// The parts of "step-<n>[.epoch-<e>]<suffix>"; a negative step for all other names: people keep pictures
// and notes beside a checkpoint, and name them after its step.
struct FileName {
  explicit FileName(std::string_view name)
      : step(take_number(name, "step-")),
        epoch(std::max<std::int64_t>(0, take_number(name, ".epoch-"))),
        suffix(name) {
    if (!is_suffix(suffix)) step = -1;
  }

  std::int64_t step;
  std::int64_t epoch;
  std::string_view suffix;
};

std::string name_begin(std::int64_t step, std::int64_t epoch) {
  return epoch > 0 ? fmt::format("step-{}.epoch-{}", step, epoch) : fmt::format("step-{}", step);
}

// Oldest first. Epoch 0 belongs to no chief who could be late: what somebody saves so on purpose counts,
// and comes last (0 - 1 is the largest unsigned number).
struct ByEpoch {
  static std::uint64_t age(std::int64_t epoch) { return static_cast<std::uint64_t>(epoch - 1); }
  bool operator()(std::int64_t a, std::int64_t b) const { return age(a) < age(b); }
};

// The epochs of the manifests of each step that has one among these files.
using Saved = std::map<std::int64_t, std::set<std::int64_t, ByEpoch>>;
Saved saved_among(const std::vector<std::string>& files) {
  Saved saved;
  for (const auto& name : files)
    if (const FileName parts(name); parts.step >= 0 && parts.suffix == manifest_suffix)
      saved[parts.step].insert(parts.epoch);
  return saved;
}

// The manifest of a step that counts.
std::string path_of(const std::string& folder, const Saved::value_type& saved) {
  return manifest_path(folder, saved.first, *saved.second.rbegin());
}

// The steps that a chief of a newer epoch has gone back behind: it has saved an earlier one. Their own
// chief was stopped before it published them, or they were damaged when the newer one looked; either way
// training has gone on without them. Epoch 0 belongs to no chief who could be late.
std::set<std::int64_t> overruled_steps(const Saved& saved) {
  std::set<std::int64_t> overruled;
  std::int64_t newest_before = 0;
  for (const auto& [step, epochs] : saved) {
    const std::int64_t counts = *epochs.rbegin();
    if (counts > 0 && counts < newest_before) overruled.insert(step);
    newest_before = std::max(newest_before, *std::ranges::max_element(epochs));
  }
  return overruled;
}

// Those of the steps, in their order, that stay because so much time has passed since the one before.
std::set<std::int64_t> kept_by_time(Storage& storage, const std::string& folder,
                                    std::ranges::input_range auto&& steps, double hours) {
  std::set<std::int64_t> kept;
  if (hours <= 0) return kept;
  std::optional<std::int64_t> last_s;
  for (const auto& saved : steps) try {
      const auto saved_s = read_manifest(storage, path_of(folder, saved)).saved_at_s;
      if (last_s && static_cast<double>(saved_s - *last_s) < hours * 3600) continue;
      last_s = saved_s;
      kept.insert(saved.first);
    } catch (const Error& error) {  // What is damaged need not stay.
      if (error.code() != Code::data_loss) kept.insert(saved.first);
    }
  return kept;
}

std::set<std::int64_t> steps_to_keep(Storage& storage, const std::string& folder, const Saved& saved,
                                     const KeepOptions& keep) {
  const std::size_t newest =
      keep.max_to_keep > 0 ? static_cast<std::size_t>(keep.max_to_keep) : saved.size();
  const std::size_t old = saved.size() - std::min(newest, saved.size());
  auto kept = kept_by_time(storage, folder, std::views::take(saved, static_cast<std::ptrdiff_t>(old)),
                           keep.keep_checkpoint_every_n_hours);
  for (const auto& [step, epochs] : std::views::drop(saved, static_cast<std::ptrdiff_t>(old)))
    kept.insert(step);
  return kept;
}

// Those of the steps whose checkpoint is damaged and newer than what has just been saved: training fell
// back from them, and they would take the turns of whole ones.
std::set<std::int64_t> damaged_after(Storage& storage, const std::string& folder, const Saved& saved,
                                     std::int64_t step) {
  std::set<std::int64_t> damaged;
  for (auto later = saved.upper_bound(step); later != saved.end(); ++later)
    if (is_damaged(storage, path_of(folder, *later))) damaged.insert(later->first);
  return damaged;
}

bool names(const Manifest& manifest, const std::string& file) {
  return std::ranges::find(manifest.files, file, &Manifest::File::name) != manifest.files.end();
}

// The steps of which a chief of a newer epoch has made files.
std::set<std::int64_t> steps_of_newer(const std::vector<std::string>& files, std::int64_t epoch) {
  std::set<std::int64_t> steps;
  for (const auto& name : files)
    if (const FileName parts(name); parts.epoch > epoch) steps.insert(parts.step);
  return steps;
}

// A manifest goes before its files, and for good: what remains is a checkpoint or no checkpoint.
void remove_in_turn(Storage& storage, const std::string& folder,
                    const std::vector<std::string>& manifests, const std::vector<std::string>& files) {
  for (const auto& name : manifests) storage.remove(folder + "/" + name);
  if (!manifests.empty()) storage.sync(folder);
  for (const auto& name : files) storage.remove(folder + "/" + name);
}

void remove_others(Storage& storage, const std::string& folder, const Manifest& saved,
                   const KeepOptions& keep, std::int64_t epoch) {
  const auto all = storage.list(folder);
  const auto of_newer = steps_of_newer(all, epoch);
  auto whole = saved_among(all);
  for (const auto step : of_newer) whole.erase(step);
  for (const auto step : damaged_after(storage, folder, whole, saved.global_step)) whole.erase(step);
  const auto overruled = overruled_steps(whole);
  for (const auto step : overruled) whole.erase(step);
  auto kept = steps_to_keep(storage, folder, whole, keep);
  kept.insert(saved.global_step);
  // An error that has passed since may be why training went back behind these.
  kept.insert(overruled.upper_bound(saved.global_step), overruled.end());
  kept.insert(of_newer.begin(), of_newer.end());
  std::vector<std::string> manifests, files;
  for (const auto& name : all) {
    const FileName parts(name);
    const bool is_manifest = parts.suffix == manifest_suffix;
    const bool is_ours = is_manifest ? parts.epoch == epoch : names(saved, name);
    const bool is_other_version = parts.step == saved.global_step && parts.epoch <= epoch && !is_ours;
    if (parts.step < 0 || (kept.contains(parts.step) && !is_other_version)) continue;
    (is_manifest ? manifests : files).push_back(name);
  }
  remove_in_turn(storage, folder, manifests, files);
}

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
  return fmt::format("{}/{}{}", folder, name_begin(step, epoch), manifest_suffix);
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
      (parts.suffix == manifest_suffix ? manifests : files).push_back(name);
  remove_in_turn(storage, folder, manifests, files);
}

void remove_unpublished(Storage& storage, const std::string& folder, std::int64_t step,
                        std::span<const std::string> files, std::int64_t epoch) {
  try {
    Manifest published;
    const std::string path = manifest_path(folder, step, epoch);
    if (storage.exists(path)) published = read_manifest(storage, path);
    for (const auto& file : files)
      if (!names(published, file)) storage.remove(folder + "/" + file);
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
