// The state of a parameter shard, and the interface of its op handlers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/checkpoint/files/file_writer.h"
#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/wait_reports.h"
#include "actors/shard/applied_updates.h"
#include "actors/shard/conditional.h"
#include "actors/shard/slot_slices.h"
#include "actors/training/accumulator.h"
#include "dataflow/ops/training_ops.h"
#include "kernels/update/sparse_update.h"

namespace actorflow {

// The staleness of asynchronous updates: the steps between reading the weights and the update.
struct Staleness {
  std::int64_t steps = 0;
  std::int64_t sum = 0;
  std::int64_t max = 0;
  std::array<std::int64_t, staleness_buckets> histogram{};  // the last bucket: as much or more

  void record(std::int64_t staleness);
  double mean() const { return steps > 0 ? static_cast<double>(sum) / static_cast<double>(steps) : 0; }
};

struct ShardVariable {
  VariableState state;
  // Of slots that are divided among replicas the elements that this one has, as tensors of one
  // dimension; none: the slots are of the whole variable.
  std::optional<SlotSlice> slice;
  std::int64_t slots_step = -1;  // those slots are as after this global step; -1: as after any
  // The GPU that value and slots live on; null: the host.
  Device* gpu = nullptr;
  std::string slots_of;    // the optimizer that has made the slots; empty as long as there are none
  AppliedUpdates applied;  // asynchronous ones
  Accumulator accumulator;
  std::uint64_t left_out = 0;  // gradients that were not finite
  // The value before the last synchronous update, at the step before the accumulator's; for a sparse
  // update of a table only the changed rows.
  Tensor previous;
  std::optional<GradientRows> previous_rows;
  // The last accumulate node, its settings, and for how long gradients have waited.
  const Node* accumulate = nullptr;
  const BoundOptimizer* optimizer = nullptr;
  std::shared_ptr<const Executable> keeps_node;
  std::int64_t waiting_ticks = 0;  // looks of the shard
};

struct ShardState {
  TaskRef task;
  FencingEpoch epoch = 0;
  std::map<std::string, ShardVariable, std::less<>> variables;
  std::map<std::string, Staleness, std::less<>> staleness;  // by global step

  std::map<std::string, ConditionalState, std::less<>> conditional;
  // What SnapshotVariables has kept for a folder of checkpoints, until WriteSnapshot or
  // TakeFromSnapshot.
  std::map<std::string, std::vector<SavedTensor>, std::less<>> snapshots;
  WaitReports gradient_reports;  // of variables that wait for gradients

  // The variable of that name, null if it has no value.
  ShardVariable* find(const std::string& name);
  // The variable of that name. Throws failed_precondition if it has no value.
  ShardVariable& initialized(const std::string& name);
};

// The name of a node's variable.
const std::string& variable_of(const Node& node);
// Throws invalid_argument unless both have the same dtype and shape.
void check_same_type(const Node& node, const Tensor& expected, const Tensor& actual);

// The outputs of a node; or nothing, if it is answered later with complete() or fail().
using StateResult = std::optional<std::vector<Tensor>>;

// Whether an op changes state; steps of an older epoch than the shard's may then not run it.
enum class Effect : std::uint8_t { changes, reads };

// Elements of a gradient that keep it from being applied.
struct BadElements {
  std::int64_t not_finite = 0;
  std::int64_t out_of_range = 0;  // indices of a row-sparse gradient
};

// The handler of an op. If `run` throws, also for want of memory, it has changed nothing, so the step
// may be repeated.
struct StateOp {
  const OpDef* op = nullptr;
  StateResult (*run)(ShardState& shard, StateCall& call) = nullptr;
  Effect effect = Effect::changes;
  // Which of so many inputs are brought to the variable's device; the others are brought to the host.
  // Null: none.
  bool (*is_beside_variable)(std::size_t input, std::size_t inputs) = nullptr;
  // Of ops whose inputs beside the variable are a gradient, one tensor or values and indices by turns:
  // run() for one that has been looked through. Gradients on a GPU are so together (parameter_shard.h).
  StateResult (*run_counted)(ShardState& shard, StateCall& call, const BadElements& bad) = nullptr;
};

// For StateOp::is_beside_variable: the first input.
inline bool is_first(std::size_t input, std::size_t) { return input == 0; }

// The families of ops, each in a file of its own. A new family is declared here and listed in
// parameter_shard.cpp.
std::span<const StateOp> variable_handlers();      // variables.cpp
std::span<const StateOp> update_handlers();        // updates.cpp
std::span<const StateOp> synchronous_handlers();   // synchronous.cpp
std::span<const StateOp> conditional_handlers();   // conditional.cpp
std::span<const StateOp> replicated_handlers();    // replicated.cpp
std::span<const StateOp> sliced_handlers();        // sliced.cpp
std::span<const StateOp> sliced_slots_handlers();  // sliced_slots.cpp
std::span<const StateOp> epoch_handlers();         // epoch.cpp
std::span<const StateOp> checkpoint_handlers();    // checkpoints.cpp

Device& device_of(const ShardVariable& variable);
// Moves a variable to the GPU on which one of its nodes is placed. Variables that are not floating stay
// on the host, where they are counted with; a node on a CPU moves nothing. Throws Error if the GPU has
// no memory for all of it; the variable then stays where it was.
void bring_to(Device& device, ShardVariable& variable);

// The sum of tensors of one type on one device, in their order.
Tensor add_tensors(const ShardState& shard, Device& device, std::vector<Tensor> tensors);
// What the kernel of an op with one output computes of inputs that are on the device; `name` is the
// node's that wants it.
Tensor computed(const ShardState& shard, Device& device, std::string_view op, const std::string& name,
                Attrs attrs, std::vector<Tensor> inputs);
// For takers of conditional accumulators: drop those of a step that has ended; drop all, with the
// accumulators; log those that wait since the shard looked last.
void give_up_takers(ShardState& shard, StepId step);
void forget_conditional(ShardState& shard, const Status& reason,
                        const std::function<bool(const std::string&)>& which = {});
void report_waiting_takers(ShardState& shard);
// What has been applied to the variable of the node's train op and replica.
AppliedUpdates::Replica& applied_of(const Node& node, ShardVariable& variable);
// The gradient of a node's inputs, `input` beside the variable or (values, indices, values, indices,
// ...) on the host, checked; none if it is not finite and the node skips it. Throw invalid_argument,
// naming node and variable, if it does not fit the variable, and not_finite.
std::optional<Gradient> counted_gradient(const Node& node, ShardVariable& variable, Tensor input,
                                         const BadElements& bad);
std::optional<Gradient> sparse_gradient(const ShardState& shard, const Node& node,
                                        ShardVariable& variable, std::span<const Tensor> inputs);
// Whether a gradient of which so many elements are not finite may be applied.
bool may_apply(const Node& node, ShardVariable& variable, const std::string& name, std::int64_t bad,
               std::int64_t elements);
// A call whose inputs of the gradient are those that are beside its variable.
struct GradientCall {
  const StateCall* call;
  bool (*is_of_gradient)(std::size_t input, std::size_t inputs);
};
// The bad elements of each gradient; all are on `device`, with their variables. For a GPU there is one
// wait for all.
std::vector<BadElements> bad_elements(ShardState& shard, std::span<const GradientCall> calls,
                                      Device& device);
// The handler of an op with run_counted.
template <StateResult (*run_counted)(ShardState&, StateCall&, const BadElements&),
          bool (*is_of_gradient)(std::size_t, std::size_t)>
StateOp gradient_handler(const OpDef& op) {
  constexpr auto run = [](ShardState& shard, StateCall& call) {
    const GradientCall gradient{&call, is_of_gradient};
    Device& device = device_of(shard.initialized(variable_of(*call.node)));
    return run_counted(shard, call, bad_elements(shard, {&gradient, 1}, device).front());
  };
  return {&op, run, Effect::changes, is_of_gradient, run_counted};
}
// Applies the mean of the gradients, if there are any, by the optimizer, with `learning_rate` if there
// is one. If it throws, it has changed nothing.
void update_variable(const ShardState& shard, const BoundOptimizer& optimizer, ShardVariable& variable,
                     std::span<const Gradient> gradients, const Tensor& learning_rate);
// The optimizer, with another learning rate if that is a tensor.
BoundOptimizer with_rate(const BoundOptimizer& optimizer, const Tensor& learning_rate);
// Sets variables to their values in a checkpoint, and answers the restoring node.
struct TensorsLoaded;
void put_restored(ShardState& shard, TensorsLoaded& loaded);
// The slots of a variable; where it has only a slice of them, with those that other replicas have sent.
// Throws aborted if elements are missing.
WholeSlots whole_slots(const ShardState& shard, const std::string& name, const ShardVariable& variable,
                       std::vector<SentSlots> others);
// Repeats the announcements to a coordinator whose connection was lost: without a lost one its barrier
// would wait for ever. It ignores repeated ones.
void announce_again(const ShardState& shard, TaskId coordinator);
// Names the replicas for which a variable waits since the shard looked last.
void report_waiting_gradients(ShardState& shard);

}  // namespace actorflow
