#include "apps/training/saver.h"

#include <fmt/format.h>

#include <utility>

#include "actors/checkpoint.h"
#include "dataflow/error.h"

namespace actorflow {
namespace {

const Tensor& value_of(const Variable& variable, const Checkpoint& checkpoint,
                       const std::string& folder) {
  const auto refuse = [&](const std::string& what) {
    return Error(
        Code::failed_precondition,
        fmt::format(
            "the checkpoint of step {} in {} {}; it belongs to another model: choose the model's own "
            "options, or another checkpoint folder",
            checkpoint.global_step, folder, what));
  };
  const auto found = checkpoint.tensors.find(variable.name());
  if (found == checkpoint.tensors.end())
    throw refuse(fmt::format("has no variable '{}'", variable.name()));
  const Tensor& value = found->second;
  if (value.dtype() != variable.type().dtype || value.shape() != variable.type().shape)
    throw refuse(fmt::format("has '{}' as {}, but the graph has it as {}", variable.name(),
                             value.describe(), variable.type().to_string()));
  return value;
}

}  // namespace

Saver::Saver(Graph& graph, std::vector<Variable> variables, const Variable& global_step)
    : variables_(std::move(variables)), global_step_(global_step) {
  for (const auto& variable : variables_) {
    const std::string name = variable.name() + "/restore";
    values_.push_back(graph.placeholder(variable.type().dtype, variable.type().shape, name + "/value"));
    assigns_.push_back(graph.assign(variable, values_.back(), name));
  }
}

std::string Saver::save(Session& session, Storage& storage, const std::string& folder) const {
  std::vector<Output> fetches(variables_.begin(), variables_.end());
  fetches.push_back(global_step_);
  const std::vector<Tensor> values = session.run(fetches);
  Checkpoint checkpoint{values.back().scalar<std::int64_t>(), {}};
  for (std::size_t i = 0; i < variables_.size(); ++i)
    checkpoint.tensors[variables_[i].name()] = values[i];
  return save_checkpoint(storage, folder, checkpoint);
}

std::optional<std::int64_t> Saver::restore(Session& session, Storage& storage,
                                           const std::string& folder) const {
  const auto checkpoint = load_latest_checkpoint(storage, folder);
  if (!checkpoint) return std::nullopt;
  Feeds feeds;
  for (std::size_t i = 0; i < variables_.size(); ++i)
    feeds.emplace_back(values_[i], value_of(variables_[i], *checkpoint, folder));
  session.run({}, feeds, assigns_);
  return checkpoint->global_step;
}

}  // namespace actorflow
