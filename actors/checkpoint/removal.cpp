#include "actors/checkpoint/removal.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ranges>
#include <set>

#include "actors/checkpoint/damage.h"
#include "actors/checkpoint/file_names.h"
#include "actors/checkpoint/folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using Steps = std::set<std::int64_t>;

// The manifest of a step that counts.
std::string path_of(const std::string& folder, const SavedSteps::value_type& saved) {
  return manifest_path(folder, saved.first, *saved.second.rbegin());
}

// Those of the steps, in their order, that stay because so much time has passed since the one before.
Steps kept_by_time(Storage& storage, const std::string& folder, std::ranges::input_range auto&& steps,
                   double hours) {
  Steps kept;
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

Steps steps_to_keep(Storage& storage, const std::string& folder, const SavedSteps& saved,
                    const KeepOptions& keep) {
  const std::size_t newest =
      keep.max_to_keep > 0 ? static_cast<std::size_t>(keep.max_to_keep) : saved.size();
  const std::size_t old = saved.size() - std::min(newest, saved.size());
  Steps kept = kept_by_time(storage, folder, std::views::take(saved, static_cast<std::ptrdiff_t>(old)),
                            keep.keep_checkpoint_every_n_hours);
  for (const auto& [step, epochs] : std::views::drop(saved, static_cast<std::ptrdiff_t>(old)))
    kept.insert(step);
  return kept;
}

// Those of the steps whose checkpoint is damaged and newer than what has just been saved: training fell
// back from them, and they would take the turns of whole ones.
Steps damaged_after(Storage& storage, const std::string& folder, const SavedSteps& saved,
                    std::int64_t step) {
  Steps damaged;
  for (auto later = saved.upper_bound(step); later != saved.end(); ++later)
    if (is_damaged(storage, path_of(folder, *later))) damaged.insert(later->first);
  return damaged;
}

// The steps of which a chief of a newer epoch has made files.
Steps steps_of_newer(const std::vector<std::string>& files, std::int64_t epoch) {
  Steps steps;
  for (const auto& name : files)
    if (const FileName parts(name); parts.epoch > epoch) steps.insert(parts.step);
  return steps;
}

// The steps of which files stay when the chief of this epoch has saved `saved`.
Steps steps_that_stay(Storage& storage, const std::string& folder, const std::vector<std::string>& files,
                      std::int64_t saved, const KeepOptions& keep, std::int64_t epoch) {
  SavedSteps candidates = saved_among(files);
  const auto take_off = [&candidates](const Steps& steps) {
    for (const auto step : steps) candidates.erase(step);
  };
  const Steps of_newer = steps_of_newer(files, epoch);
  take_off(of_newer);
  take_off(damaged_after(storage, folder, candidates, saved));
  const Steps overruled = overruled_steps(candidates);
  take_off(overruled);
  Steps stay = steps_to_keep(storage, folder, candidates, keep);
  stay.insert(saved);
  // An error that has passed since may be why training went back behind these.
  stay.insert(overruled.upper_bound(saved), overruled.end());
  stay.insert(of_newer.begin(), of_newer.end());
  return stay;
}

// Whether a file of the step that was saved belongs to an earlier version of it.
bool is_other_version(const std::string& name, const FileName& parts, const Manifest& saved,
                      std::int64_t epoch) {
  const bool is_ours = parts.is_manifest() ? parts.epoch == epoch : has_file(saved, name);
  return parts.step == saved.global_step && parts.epoch <= epoch && !is_ours;
}

}  // namespace

void remove_others(Storage& storage, const std::string& folder, const Manifest& saved,
                   const KeepOptions& keep, std::int64_t epoch) {
  const auto all = storage.list(folder);
  const Steps stay = steps_that_stay(storage, folder, all, saved.global_step, keep, epoch);
  std::vector<std::string> manifests, files;
  for (const auto& name : all) {
    const FileName parts(name);
    if (parts.step < 0) continue;
    if (stay.contains(parts.step) && !is_other_version(name, parts, saved, epoch)) continue;
    (parts.is_manifest() ? manifests : files).push_back(name);
  }
  remove_in_turn(storage, folder, manifests, files);
}

void remove_in_turn(Storage& storage, const std::string& folder,
                    const std::vector<std::string>& manifests, const std::vector<std::string>& files) {
  for (const auto& name : manifests) storage.remove(folder + "/" + name);
  if (!manifests.empty()) storage.sync(folder);
  for (const auto& name : files) storage.remove(folder + "/" + name);
}

bool has_file(const Manifest& manifest, const std::string& file) {
  return std::ranges::find(manifest.files, file, &Manifest::File::name) != manifest.files.end();
}

}  // namespace actorflow
