#include "actors/eager/eager_checkpoint.h"

#include <fmt/format.h>

#include <map>

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

void expect_any_variable(const EagerState& state) {
  if (state.variables.empty())
    throw invalid_argument(
        "a checkpoint of no variables: a model has its own after the first call, or build()");
}

// "adam", and "adam_1" for the next one of that kind.
std::vector<std::string> names_of(const EagerState& state) {
  std::vector<std::string> names;
  std::map<std::string, int> used;
  for (const EagerOptimizer& optimizer : state.optimizers) {
    const int number = used[optimizer.name()]++;
    names.push_back(number == 0 ? optimizer.name() : fmt::format("{}_{}", optimizer.name(), number));
  }
  return names;
}

// The state that an optimizer has of a variable; none where it has not updated it.
struct VariableSlots {
  EagerOptimizer& optimizer;
  const EagerVariable& variable;
  std::vector<std::string> names;
};

std::vector<VariableSlots> slots_of(const EagerState& state) {
  const auto optimizers = names_of(state);
  std::vector<VariableSlots> all;
  for (const EagerVariable& variable : state.variables)
    for (std::size_t k = 0; k < optimizers.size(); ++k) {
      VariableSlots& each = all.emplace_back(VariableSlots{state.optimizers[k], variable, {}});
      for (const std::string_view slot : each.optimizer.slot_names())
        each.names.push_back(fmt::format("{}/{}/{}", variable.name(), optimizers[k], slot));
    }
  return all;
}

// What the checkpoint has of them, all or nothing.
std::vector<Tensor> saved_slots(const Tensors& tensors, const VariableSlots& of) {
  std::vector<Tensor> slots;
  for (const std::string& name : of.names)
    if (const auto found = tensors.find(name); found != tensors.end()) slots.push_back(found->second);
  return slots;
}

// What the checkpoint lacks.
std::string differences(const Tensors& tensors, const EagerState& state) {
  std::string text;
  for (const EagerVariable& variable : state.variables) {
    const auto found = tensors.find(variable.name());
    if (found == tensors.end())
      text += fmt::format("\n  '{}' is missing", variable.name());
    else if (const TensorType type{found->second.dtype(), found->second.shape()};
             type != variable.type())
      text += fmt::format("\n  '{}' is {}, expected {}", variable.name(), type.to_string(),
                          variable.type().to_string());
  }
  for (const VariableSlots& each : slots_of(state)) try {
      each.optimizer.expect_slots(each.variable, saved_slots(tensors, each));
    } catch (const Error& error) {
      text += fmt::format("\n  {}: {}", each.optimizer.name(), error.what());
    }
  return text;
}

}  // namespace

std::string save_eager(Storage& storage, const std::string& folder, const EagerState& state,
                       std::int64_t step, const KeepOptions& keep) {
  expect_any_variable(state);
  Checkpoint checkpoint;
  checkpoint.global_step = step;
  checkpoint.saved_at_s = static_cast<std::int64_t>(storage.wall_time_s());
  for (const EagerVariable& variable : state.variables)
    add(checkpoint.tensors, variable.name(), variable.read());
  for (const VariableSlots& each : slots_of(state)) {
    const auto slots = each.optimizer.slots(each.variable);
    for (std::size_t i = 0; i < slots.size(); ++i) add(checkpoint.tensors, each.names[i], slots[i]);
  }
  return save_checkpoint(storage, folder, checkpoint, keep);
}

std::optional<std::int64_t> restore_eager(Storage& storage, const std::string& folder,
                                          const EagerState& state) {
  expect_any_variable(state);
  const auto saved = load_newest_whole_checkpoint(storage, folder);
  if (!saved) return std::nullopt;
  if (const std::string lacks = differences(saved->tensors, state); !lacks.empty())
    throw Error(Code::failed_precondition, "the checkpoint is of something else:" + lacks);
  for (const EagerVariable& variable : state.variables)
    variable.assign(saved->tensors.at(variable.name()));
  for (const VariableSlots& each : slots_of(state))
    each.optimizer.set_slots(each.variable, saved_slots(saved->tensors, each));
  return saved->global_step;
}

}  // namespace actorflow
