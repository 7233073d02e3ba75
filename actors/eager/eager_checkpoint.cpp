#include "actors/eager/eager_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

using Tensors = std::map<std::string, Tensor>;

void add(Tensors& tensors, const std::string& name, const Tensor& tensor) {
  if (!tensors.emplace(name, on_device(tensor, cpu_device())).second)
    throw Error(
        Code::already_exists,
        fmt::format("the checkpoint would have two tensors of the name '{}'; give one of the models "
                    "a name",
                    name));
}

std::vector<std::string> slot_names(const EagerOptimizer& optimizer, const EagerVariable& variable) {
  std::vector<std::string> names;
  for (const std::string_view slot : optimizer.slot_names())
    names.push_back(fmt::format("{}/{}/{}", variable.name(), optimizer.name(), slot));
  return names;
}

void add_slots(Tensors& tensors, const EagerOptimizer& optimizer, const EagerVariable& variable) {
  const auto slots = optimizer.slots(variable);
  const auto names = slot_names(optimizer, variable);
  for (std::size_t i = 0; i < slots.size(); ++i) add(tensors, names[i], slots[i]);
}

// What the checkpoint lacks of the variables.
void expect_variables(const Tensors& tensors, const EagerState& state) {
  std::string differences;
  for (const EagerVariable& variable : state.variables) {
    const auto found = tensors.find(variable.name());
    if (found == tensors.end())
      differences += fmt::format("\n  '{}' is missing", variable.name());
    else if (const TensorType type{found->second.dtype(), found->second.shape()};
             type != variable.type())
      differences += fmt::format("\n  '{}' is {}, expected {}", variable.name(), type.to_string(),
                                 variable.type().to_string());
  }
  if (!differences.empty())
    throw Error(Code::failed_precondition, "the checkpoint is of other variables:" + differences);
}

// Either all slots of the variable are there, or the optimizer did not update it.
void restore_slots(const Tensors& tensors, EagerOptimizer& optimizer, const EagerVariable& variable) {
  std::vector<Tensor> slots;
  for (const std::string& name : slot_names(optimizer, variable))
    if (const auto found = tensors.find(name); found != tensors.end()) slots.push_back(found->second);
  if (!slots.empty()) optimizer.set_slots(variable, std::move(slots));
}

}  // namespace

std::string save_eager(const std::string& folder, const EagerState& state, std::int64_t step,
                       const KeepOptions& keep, Storage& storage) {
  Checkpoint checkpoint;
  checkpoint.global_step = step;
  checkpoint.saved_at_s = static_cast<std::int64_t>(storage.wall_time_s());
  for (const EagerVariable& variable : state.variables) {
    add(checkpoint.tensors, variable.name(), variable.read());
    for (const EagerOptimizer& optimizer : state.optimizers)
      add_slots(checkpoint.tensors, optimizer, variable);
  }
  return save_checkpoint(storage, folder, checkpoint, keep);
}

std::optional<std::int64_t> restore_eager(const std::string& folder, const EagerState& state,
                                          Storage& storage) {
  const auto saved = load_latest_checkpoint(storage, folder);
  if (!saved) return std::nullopt;
  expect_variables(saved->tensors, state);
  for (const EagerVariable& variable : state.variables) {
    for (EagerOptimizer& optimizer : state.optimizers)
      restore_slots(saved->tensors, optimizer, variable);
    variable.assign(saved->tensors.at(variable.name()));
  }
  return saved->global_step;
}

}  // namespace actorflow
