#include "actors/models/saved_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "actors/checkpoint/newest_whole.h"
#include "actors/monitored/storage_error.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The checkpoint may have more: slots, and how far training was. Returns its step.
std::int64_t set_weights_of(ModelSession& model, const std::string& manifest_path) {
  Checkpoint saved = load_checkpoint(model.storage(), manifest_path);
  std::map<std::string, Tensor> weights;
  for (const Variable& variable : model.nodes().variables.all())
    if (const auto found = saved.tensors.find(variable.name()); found != saved.tensors.end())
      weights.insert(std::move(*found));
  try {
    model.set_weights(weights);
  } catch (const Error& error) {
    if (error.code() != Code::invalid_argument) throw;
    throw Error(Code::failed_precondition, fmt::format("{}: {}", manifest_path, error.what()));
  }
  return saved.global_step;
}

}  // namespace

void save_weights(ModelSession& model, const std::string& folder, const KeepOptions& keep) {
  Session& session = model.session();
  const Checkpoint weights{
      .global_step = session.run(model.nodes().global_step).scalar<std::int64_t>(),
      .tensors = model.weights(),
      .saved_at_s = static_cast<std::int64_t>(model.storage().wall_time_s())};
  save_checkpoint(model.storage(), folder, weights, keep, session.fencing_epoch());
}

void load_weights(ModelSession& model, const std::string& folder) {
  const auto found = restore_newest_with_tries(
      model.storage(), folder, [&](auto pause) { model.runtime().sleep(pause); },
      [&](const std::string& path) { return set_weights_of(model, path); });
  if (!found) throw Error(Code::not_found, fmt::format("no weights of a model in {}", folder));
}

bool has_weights_alone(const ModelSession& model, const std::string& folder) {
  try {
    const auto newest = latest_checkpoint(model.storage(), folder);
    if (!newest) return false;
    const auto tensors = read_manifest(model.storage(), *newest).tensors;
    return std::ranges::find(tensors, model.nodes().global_step.name(), &Manifest::Entry::name) ==
           tensors.end();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace actorflow
