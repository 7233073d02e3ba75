#include "actors/checkpoint/saver.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "actors/checkpoint/extra_state.h"
#include "actors/checkpoint/files/reader.h"
#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/folder_epoch.h"
#include "actors/checkpoint/newest_whole.h"
#include "actors/checkpoint/one_step.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/cluster/device_name.h"
#include "dataflow/ops/sliced_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/values/error.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

// Variables of one task are saved together.
std::string task_of(const Variable& variable) {
  return task_part(DeviceName::parse(variable.device())).to_string();
}

VariableInCheckpoint place_of(const Variable& variable, const SaverOptions& options) {
  const Node& node = variable.value().node();
  const auto& whole = attr<std::string>(node, "slice_of");
  const bool is_slice = !whole.empty();
  const std::string& name = is_slice ? whole : variable.name();
  const auto renamed = options.names.find(name);
  VariableInCheckpoint place{variable.name(), renamed == options.names.end() ? name : renamed->second};
  if (!is_slice) return place;
  place.first_row = attr<std::vector<std::int64_t>>(node, "slice_offset")[0];
  place.full_rows = attr<Shape>(node, "slice_shape")[0];
  place.rows = variable.type().shape[0];
  return place;
}

// Throws invalid_argument if two variables, or slices, would be one in the checkpoint, one would be
// taken for extra state, or a name that was given is of no variable.
void expect_distinct(const std::vector<Variable>& variables, const SaverOptions& options) {
  std::map<std::pair<std::string, std::int64_t>, std::string> owners;
  std::set<std::string, std::less<>> own_names;
  for (const auto& variable : variables) {
    const auto place = place_of(variable, options);
    if (is_extra(place.name))
      throw invalid_argument(
          fmt::format("a variable cannot be '{}' in a checkpoint, where '@' begins the "
                      "names of what is no variable; give it another name",
                      place.name));
    const auto [owner, fresh] = owners.try_emplace({place.name, place.first_row}, variable.name());
    if (!fresh)
      throw invalid_argument(
          fmt::format("a saver was given '{}' and '{}', which are both '{}' in the "
                      "checkpoint; give each variable once and a name of its own",
                      owner->second, variable.name(), place.name));
    const auto& whole = attr<std::string>(variable.value().node(), "slice_of");
    own_names.insert(whole.empty() ? variable.name() : whole);
  }
  const std::vector<std::string_view> known(own_names.begin(), own_names.end());
  for (const auto& [name, renamed] : options.names)
    if (!own_names.contains(name))
      throw invalid_argument(
          fmt::format("SaverOptions::names has '{}', which is none of the saver's "
                      "variables{}",
                      name, did_you_mean(name, known)));
}

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

}  // namespace

Saver::Saver(Graph& graph, const std::vector<Variable>& variables, const Variable& global_step,
             SaverOptions options)
    : graph_(&graph), global_step_(global_step), options_(std::move(options)) {
  if (!(global_step.type() == TensorType{DType::int64, {}}))
    throw invalid_argument(fmt::format("a saver numbers checkpoints by an int64 scalar, got '{}', {}",
                                       global_step.name(), global_step.type().to_string()));
  expect_distinct(variables, options_);
  std::vector<std::pair<std::string, Part>> parts;  // in the order of their first variables
  for (const auto& variable : variables) {
    saves_global_step_ |= variable.name() == global_step.name();
    const auto place = place_of(variable, options_);
    TensorType& type = wanted_[place.name] = variable.type();
    if (place.full_rows >= 0) type.shape.set(0, place.full_rows);
    const std::string task = task_of(variable);
    auto found = std::ranges::find(parts, task, [](const auto& part) { return part.first; });
    if (found == parts.end()) found = parts.insert(parts.end(), {task, Part{}});
    found->second.places.push_back(place);
  }
  const std::string home = task_of(global_step);
  if (std::ranges::find(parts, home, [](const auto& part) { return part.first; }) == parts.end())
    parts.emplace_back(home, Part{});
  graph.name_scope("saver", [&] {
    folder_ = graph.placeholder(DType::string, {}, "folder");
    step_ = graph.placeholder(DType::int64, {}, "step");
    manifest_ = graph.placeholder(DType::string, {}, "manifest");
    graph.on(home, [&] { add_hold(graph); });
    add_slots_of_others(graph);
    for (auto& [task, part] : parts) add_part(graph, task, std::move(part));
    graph.on(home, [&] { add_release(graph); });
  });
}

// A snapshot is taken when the steps are held; or at once, if what says so is fed.
void Saver::add_hold(Graph& graph) {
  replicas_ = graph.placeholder(DType::int64, {Shape::unknown}, "replicas");
  held_ = graph.add(hold_steps_op(), {replicas_},
                    {{"variable", global_step_.name()}, {"limit_ms", options_.longest_hold_ms}}, "hold");
}

// Between its steps the chief has the values of a step whose updates all replicas have made already:
// their slots are of the same step.
void Saver::add_slots_of_others(Graph& graph) {
  const ShardedOptimizer optimizer = sharded_optimizer(graph.def());
  for (int rank = 0; rank < std::ssize(optimizer.tasks); ++rank) {
    if (rank == optimizer.rank) continue;
    Attrs attrs = slice_attrs(optimizer.sliced);
    attrs["rank"] = std::int64_t{rank};
    slots_of_others_.push_back(graph.on(optimizer.tasks[static_cast<std::size_t>(rank)], [&] {
      return graph.add(read_slot_slices_op(), {global_step_.value()}, attrs, "slots_of_replica");
    }));
  }
  sliced_ = optimizer.sliced.variables;
}

void Saver::add_part(Graph& graph, const std::string& device, Part part) {
  const Attrs attrs = checkpoint_attrs(part.places);
  std::vector<Output> kept{folder_, held_};
  kept.insert(kept.end(), slots_of_others_.begin(), slots_of_others_.end());
  Attrs snapshot_attrs = attrs;
  if (!slots_of_others_.empty())
    snapshot_attrs["sliced"] = Tensor::of<std::string>({std::ssize(sliced_)}, sliced_);
  snapshot_attrs["global_step"] = global_step_.name();
  part.file = graph.placeholder(DType::string, {}, "file");
  graph.on(device, [&] {
    part.snapshot = graph.add(snapshot_variables_op(), kept, snapshot_attrs, "snapshot");
    part.write = graph.add(write_snapshot_op(), {folder_, part.file, step_}, {}, "write");
    part.restore = graph.add(restore_variables_op(), {folder_, manifest_}, attrs, "restore");
  });
  parts_.push_back(std::move(part));
}

void Saver::add_release(Graph& graph) {
  std::vector<Output> snapshots;
  for (const auto& part : parts_) snapshots.push_back(part.snapshot);
  released_ = graph.after(snapshots, [&] {
    return graph.add(release_steps_op(), {}, {{"variable", global_step_.name()}}, "release");
  });
}

SavedCheckpoint Saver::save(Session& session, Storage& storage, const std::string& folder,
                            const KeepOptions& keep, const ExtraState& extra) const {
  const auto names = storage.list(expect_path("Saver::save", folder));
  check_folder_epoch(storage, folder, session.fencing_epoch(), names);
  remove_leftovers(storage, folder, names, session.fencing_epoch());
  const Snapshot kept = keep_one_step(session, folder);
  warn_if_uneven(kept, fmt::format("the checkpoint in {}", folder));
  const std::int64_t step = kept.global_step;
  if (step < 0)
    throw Error(Code::failed_precondition,
                fmt::format("the global step '{}' is {}; checkpoints have numbers from 0 on",
                            global_step_.name(), step));
  const std::string prefix = free_file_prefix(storage, folder, step, session.fencing_epoch());
  const auto count =
      static_cast<int>(std::ranges::count_if(parts_, has_variables)) + (extra.empty() ? 0 : 1);
  std::vector<std::string> files;
  for (int i = 1; i <= count; ++i) files.push_back(data_file_name(prefix, i, count));
  try {
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
  } catch (const std::exception&) {  // What other tasks have written would only fill the disk.
    remove_unpublished(storage, folder, step, files, session.fencing_epoch());
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
    manifests.push_back(decode_manifest(std::as_bytes(std::span(text))));
  }
  return manifests;
}

std::optional<std::int64_t> Saver::restore(Session& session, Storage& storage, const std::string& folder,
                                           bool strict, ExtraState* extra) const {
  return restore_newest_whole(storage, folder, strict, [&](const std::string& manifest_path) {
    return restore_from(session, storage, manifest_path, extra);
  });
}

std::int64_t Saver::restore_from(Session& session, Storage& storage, const std::string& manifest_path,
                                 ExtraState* extra) const {
  const Manifest manifest = read_manifest(storage, manifest_path);
  const std::string folder = folder_of(manifest_path);
  if (const auto found = differences(manifest); !found.empty())
    throw Error(
        Code::failed_precondition,
        fmt::format("{} does not have the variables of the graph:{}\nIt belongs to another model: "
                    "choose the model's own options, or another checkpoint folder; a Saver of the "
                    "variables that fit restores just these",
                    manifest_path, found));
  try {
    for (const auto& file : manifest.files)
      if (!storage.exists(folder + "/" + file.name))
        throw Error(Code::data_loss,
                    fmt::format("{}/{}: this file of the checkpoint is missing", folder, file.name));
    if (extra) *extra = read_extra_state(storage, folder, manifest);
    run_restore(session, folder, manifest);
    if (!manifest.one_step) spdlog::info("the variables of {} may be of different steps", manifest_path);
  } catch (const Error& error) {
    if (error.code() != Code::data_loss) throw;
    throw Error(Code::data_loss, fmt::format("{}; delete {} to use the checkpoint before it",
                                             error.what(), manifest_path));
  }
  return saves_global_step_ ? session.run(global_step_).scalar<std::int64_t>() : manifest.global_step;
}

// A line for each; nothing if the checkpoint has all that is wanted.
std::string Saver::differences(const Manifest& manifest) const {
  const auto pieces = pieces_by_name(manifest);
  std::string lines, extra;
  for (const auto& [name, type] : wanted_) {
    const auto found = pieces.find(name);
    if (found == pieces.end()) {
      lines += fmt::format("\n  '{}' ({}) is missing", name, type.to_string());
      continue;
    }
    const TensorType saved{found->second.front()->dtype, whole_shape(found->second)};
    if (!(saved == type))
      lines += fmt::format("\n  '{}' is {} in the checkpoint, but {} in the graph", name,
                           saved.to_string(), type.to_string());
  }
  for (const auto& [name, entries] : pieces)
    if (entries.front()->variable.empty() && !is_extra(name) && !wanted_.contains(name))
      extra += fmt::format("\n  '{}' is in the checkpoint only", name);
  return lines.empty() ? lines : lines + extra;
}

void Saver::run_restore(Session& session, const std::string& folder, const Manifest& manifest) const {
  const auto bytes = encode_manifest(manifest);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Output> targets;
  for (const auto& part : parts_)
    if (has_variables(part)) targets.push_back(part.restore);
  session.run({}, {{folder_, Tensor::scalar(folder)}, {manifest_, Tensor::scalar(text)}}, targets);
}

}  // namespace actorflow
