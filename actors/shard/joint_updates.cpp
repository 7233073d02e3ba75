#include "actors/shard/joint_updates.h"

#include <algorithm>
#include <utility>

#include "actors/core/executable.h"
#include "dataflow/ops/replicated_ops.h"
#include "kernels/core/computing.h"
#include "kernels/update/optimizer_update.h"

namespace actorflow {
namespace {

// One update among those that are made together.
struct JointUpdate {
  std::size_t call;
  PreparedAnswer answer;
  ShardVariable* variable;
  AppliedUpdates::Replica* applied;  // null: updates are not numbered
  std::int64_t serial;
  BoundOptimizer optimizer;
  Tensor gradient;
};

class JointUpdates {
 public:
  JointUpdates(ShardState& shard, std::span<HeldCall> calls, std::span<const BadElements> bad)
      : shard_(shard), calls_(calls), bad_(bad), failures_(calls.size()) {
    updates_.reserve(calls.size());
  }

  std::vector<std::exception_ptr> run() {
    for (std::size_t i = 0; i < calls_.size(); ++i) try {
        ShardVariable& variable = shard_.initialized(variable_of(*calls_[i].call.node));
        if (std::ranges::find(updates_, &variable, &JointUpdate::variable) != updates_.end()) make_all();
        take(i, variable);
      } catch (...) {
        failures_[i] = std::current_exception();
      }
    make_all();
    return std::move(failures_);
  }

 private:
  // What is not the usual case is run at once: an op that does not update the variable, a row-sparse
  // gradient or one that is not finite, a variable that has not the slots of the optimizer yet.
  void take(std::size_t i, ShardVariable& variable) {
    const StateCall& call = calls_[i].call;
    const bool numbered = call.node->op == &apply_gradient_op();
    if (!numbered && call.node->op != &apply_reduced_gradient_op()) return run_alone(i);
    const BoundOptimizer& optimizer = call.executable->optimizer(call.reply_to.node);
    if (bad_[i].not_finite > 0 || variable.slots_of != optimizer.optimizer.name()) return run_alone(i);
    check_same_type(*call.node, variable.state.value, call.inputs[0]);
    check_state(optimizer, variable.state);
    PreparedAnswer answer(call.reply_to);
    auto* const applied = numbered ? &applied_of(*call.node, variable) : nullptr;
    const auto serial = numbered ? call.inputs[1].scalar<std::int64_t>() : -1;
    if (applied && !applied->admit(serial)) return answer.complete({});
    const std::size_t rate = numbered ? 2 : 1;
    updates_.push_back({i, std::move(answer), &variable, applied, serial,
                        with_rate(optimizer, call.inputs.size() > rate ? call.inputs[rate] : Tensor()),
                        call.inputs[0]});
  }

  void run_alone(std::size_t i) {
    auto& [call, op] = calls_[i];
    const Computing computing(*call.node);
    PreparedAnswer answer(call.reply_to);
    if (StateResult outputs = op->run_counted(shard_, call, bad_[i]))
      answer.complete(std::move(*outputs));
  }

  // Optimizers of one kind at a time.
  void make_all() {
    std::vector<JointUpdate> all;
    all.swap(updates_);
    const auto rule_of = [](const JointUpdate& update) { return update.optimizer.rule; };
    std::ranges::stable_sort(all, {}, rule_of);
    for (auto rest = std::span(all); !rest.empty();) {
      const auto same = std::ranges::find_if(
          rest, [&](const JointUpdate& update) { return rule_of(update) != rule_of(rest.front()); });
      const auto some = rest.first(static_cast<std::size_t>(same - rest.begin()));
      make(some);
      rest = rest.subspan(some.size());
    }
  }

  // What fails is tried alone, which tells why.
  void make(std::span<JointUpdate> some) {
    std::vector<VariableUpdate> updates;
    try {
      updates.reserve(some.size());
      for (JointUpdate& update : some)
        updates.push_back(
            {update.optimizer.optimizer.hyperparameters(), &update.variable->state, update.gradient});
    } catch (...) {
      for (const JointUpdate& update : some) failures_[update.call] = std::current_exception();
      return;
    }
    some.front().optimizer.rule->apply_each(updates, *some.front().variable->gpu, shard_.task->team);
    for (std::size_t i = 0; i < some.size(); ++i)
      updates[i].failure ? try_alone(some[i].call) : finish(some[i]);
  }

  static void finish(JointUpdate& update) {
    if (update.applied) update.applied->made(update.serial);
    update.answer.complete({});
  }

  void try_alone(std::size_t i) try { run_alone(i); } catch (...) {
    failures_[i] = std::current_exception();
  }

  ShardState& shard_;
  std::span<HeldCall> calls_;
  std::span<const BadElements> bad_;
  std::vector<std::exception_ptr> failures_;
  std::vector<JointUpdate> updates_;  // of different variables
};

}  // namespace

std::vector<std::exception_ptr> run_together(ShardState& shard, std::span<HeldCall> calls,
                                             std::span<const BadElements> bad) {
  return JointUpdates(shard, calls, bad).run();
}

}  // namespace actorflow
