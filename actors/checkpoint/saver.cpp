#include "actors/checkpoint/saver.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "actors/checkpoint/extra_state.h"
#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/folder_epoch.h"
#include "actors/checkpoint/one_step.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/values/error.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

// A file that its task has written must be there for us too.
void expect_file(Storage& storage, const std::string& folder, const Manifest::File& file) {
  const std::string path = folder + "/" + file.name;
  const bool exists = storage.exists(path);
  if (exists && storage.open(path)->size_bytes() == file.size_bytes) return;
  throw Error(
      Code::failed_precondition,
      fmt::format("{} was written, but {} here; the folder of checkpoints must be on a disk that "
                  "all tasks share, under the same path, and no other training may save in it",
                  path, exists ? "it has another size" : "is not to be seen"));
}

void expect_number(std::int64_t step, const std::string& global_step) {
  if (step >= 0) return;
  throw Error(
      Code::failed_precondition,
      fmt::format("the global step '{}' is {}; checkpoints have numbers from 0 on", global_step, step));
}

// Whether a task is lost, for which the chief raises the epoch: then all tasks drop their snapshots.
bool is_loss(Code code) { return code == Code::aborted || code == Code::unavailable; }

}  // namespace

SavedCheckpoint Saver::save(Session& session, Storage& storage, const std::string& folder,
                            const KeepOptions& keep, const ExtraState& extra) const {
  const auto names = storage.list(expect_path("Saver::save", folder));
  check_folder_epoch(storage, folder, session.fencing_epoch(), names);
  remove_leftovers(storage, folder, names, session.fencing_epoch());
  const auto drop_snapshots = [&] {
    try {
      write_parts(session, folder, std::vector<std::string>(parts_.size()), 0);  // into no files
    } catch (const std::exception& error) {
      spdlog::warn("what the tasks keep for {} stays in memory until they save again: {}", folder,
                   error.what());
    }
  };
  std::int64_t step = -1;
  std::vector<std::string> files;
  try {
    const Snapshot kept = keep_one_step(session, folder);
    warn_if_uneven(kept, fmt::format("the checkpoint in {}", folder));
    step = kept.global_step;
    expect_number(step, global_step_.name());
    const std::string prefix = free_file_prefix(storage, folder, step, session.fencing_epoch());
    const auto count =
        static_cast<int>(std::ranges::count_if(parts_, has_variables)) + (extra.empty() ? 0 : 1);
    for (int i = 1; i <= count; ++i) files.push_back(data_file_name(prefix, i, count));
    auto parts = write_parts(session, folder, files, step);
    if (!extra.empty()) parts.push_back(write_extra_state(storage, folder, files.back(), step, extra));
    Manifest manifest = merge_manifests(parts, step);
    for (const auto& file : manifest.files) expect_file(storage, folder, file);
    manifest.one_step = kept.differences.empty();
    manifest.saved_at_s = static_cast<std::int64_t>(storage.wall_time_s());
    check_folder_epoch(storage, folder,
                       session.fencing_epoch());  // once more: this process may have been stopped
    return {commit_checkpoint(storage, folder, manifest, keep, session.fencing_epoch()), step,
            manifest.one_step, kept.stood_still};
  } catch (const std::exception&) {
    // What the tasks keep takes as much memory as the model, and what they have written fills the disk.
    if (!is_loss(current_exception_status().code)) drop_snapshots();
    if (!files.empty()) remove_unpublished(storage, folder, step, files, session.fencing_epoch());
    throw;
  }
}

// Without holding anything, if that does: replicas often rest, or are all in the same part of a step.
Saver::Snapshot Saver::keep_one_step(Session& session, const std::string& folder) const {
  if (Snapshot kept = keep(session, folder, false); kept.differences.empty()) return kept;
  return keep(session, folder, true);
}

void Saver::warn_if_uneven(const Snapshot& kept, const std::string& what) const {
  if (kept.can_be_held && !kept.differences.empty())
    spdlog::warn("{} of step {} is not of one step ({}): {}", what, kept.global_step, kept.differences,
                 kept.late ? fmt::format("a replica has not ended its step within {} ms; give a larger "
                                         "longest_hold_ms",
                                         options_.longest_hold_ms)
                           : "a replica was lost in the middle of a step and has not made it again yet");
}

std::int64_t Saver::keep_to_read(Session& session) const {
  constexpr int most_tries = 50;
  Snapshot kept = keep_one_step(session, kept_to_read);
  warn_if_uneven(kept, "the model");
  const bool can_be_held = kept.can_be_held;
  for (int tries = 1; !can_be_held && !kept.differences.empty() && tries < most_tries; ++tries)
    kept = keep(session, kept_to_read, false);
  return kept.global_step;
}

Saver::Snapshot Saver::keep(Session& session, const std::string& folder, bool hold) const {
  Feeds feeds{{folder_, Tensor::scalar(folder)}};
  feeds.emplace_back(hold ? replicas_ : held_, hold ? own_replicas() : Tensor::scalar<std::int64_t>(0));
  std::vector<Output> fetches;
  if (hold) fetches = {held_, released_};
  const std::size_t first = fetches.size();
  for (const auto& part : parts_)
    for (int i = 0; i < 3; ++i) fetches.push_back(part.snapshot.output(i));
  const auto results = session.run(fetches, feeds);
  Snapshot kept;
  SeenUpdates seen;
  for (std::size_t i = first; i < results.size(); i += 3) {
    kept.global_step = std::max(kept.global_step, results[i].scalar<std::int64_t>());
    seen.add(results[i + 1].values<std::string>(), results[i + 2].values<std::int64_t>());
  }
  if (kept.global_step < 0) session.run(global_step_);  // throws: it has no value
  kept.differences = seen.differences();
  if (!hold) return kept;
  const auto answer = static_cast<HoldAnswer>(results[0].scalar<std::int64_t>());
  const std::int64_t rested_ns = results[1].values<std::int64_t>()[1];
  kept.can_be_held = answer != HoldAnswer::nothing_to_hold;
  kept.late = answer == HoldAnswer::too_late || rested_ns < 0;
  kept.stood_still = std::chrono::nanoseconds(std::max<std::int64_t>(0, rested_ns));
  return kept;
}

// Those that this program trains: it saves between their steps.
Tensor Saver::own_replicas() const {
  std::set<std::int64_t> replicas;
  for (const Node& node : graph_->def().nodes)
    if ((node.op == &take_token_op() || node.op == &advance_clock_op()) &&
        attr<std::string>(node, "variable") == global_step_.name())
      replicas.insert(attr<std::int64_t>(node, "replica"));
  const std::vector<std::int64_t> values(replicas.begin(), replicas.end());
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<Manifest> Saver::write_parts(Session& session, const std::string& folder,
                                         const std::vector<std::string>& files,
                                         std::int64_t step) const {
  Feeds feeds{{folder_, Tensor::scalar(folder)}, {step_, Tensor::scalar(step)}};
  std::vector<Output> fetches;
  for (const auto& part : parts_) {
    if (!has_variables(part)) continue;
    feeds.emplace_back(part.file, Tensor::scalar(files[fetches.size()]));
    fetches.push_back(part.write);
  }
  std::vector<Manifest> manifests;
  for (const auto& encoded : session.run(fetches, feeds)) {
    const auto text = encoded.scalar<std::string>();
    if (text.empty()) continue;  // no file
    manifests.push_back(decode_manifest(std::as_bytes(std::span(text))));
  }
  return manifests;
}

}  // namespace actorflow
