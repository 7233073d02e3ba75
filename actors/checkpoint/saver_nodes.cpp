// The nodes of a saver in its graph.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "actors/checkpoint/extra_state.h"
#include "actors/checkpoint/saver.h"
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

}  // namespace actorflow
