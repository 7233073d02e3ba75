#include <optional>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replica_nodes.h"
#include "dataflow/train/replica_training.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

Attrs replica_attrs(const Replication& r, const Synchronous& s) {
  const int wanted = s.replicas_to_aggregate > 0 ? s.replicas_to_aggregate : r.replicas;
  return {{"replica", std::int64_t{r.replica}},
          {"total_num_replicas", std::int64_t{r.replicas}},
          {"replicas_to_aggregate", std::int64_t{wanted}}};
}

// A replica's place in training, (step, serial), is in variables of its own. They move after the step's
// token has come, the step last: a step that is run again after a failure makes the same contribution.
// The serial is 0 where a replica contributes to a step once, and then neither kept nor sent.
class SynchronousTraining {
 public:
  SynchronousTraining(const Training& t, const Synchronous& strategy)
      : t_(t), strategy_(strategy), local_step_(local_variable(t, "local_step")) {
    if (!contributes_once()) local_serial_ = local_variable(t, "local_serial");
    for (const auto& update : t_.updates) expect_coordinator_of(update.variable);
  }

  TrainOp add() {
    std::vector<SentNumbers::Named> numbers{{local_step_, "sent_step"}};
    if (local_serial_) numbers.emplace_back(*local_serial_, "sent_serial");
    sent_.emplace(t_, numbers);
    std::vector<Output> counts;
    Accumulated accumulated;
    for (const auto& update : t_.updates) {
      accumulated.add(accumulate(update), task_of(t_.global_step.device()));
      counts.push_back(count_gradients(t_, update.variable, beside(update, "gradient_counts")));
    }
    const Output token =
        take_token(asks_after(accumulated), contribution(t_.global_step.device()), "take_token");
    std::vector<Output> ends{move_to(token)};
    if (contributes_once())
      ends.insert(ends.end(), accumulated.elsewhere.begin(), accumulated.elsewhere.end());
    const Output after = t_.graph.on(t_.worker, [&] {
      return t_.graph.after(ends, [&] { return t_.graph.add(identity_op(), {token}, {}, "step"); });
    });
    const Output none = t_.graph.constant(std::int64_t{-1}), first = t_.graph.constant(std::int64_t{0});
    TrainOp train;
    train.step = after;
    train.local_init = move_to(take_token({}, {none, first}, "begin"));
    train.local_step = local_step_;
    train.rejoin = rejoin();
    train.gradient_counts = std::move(counts);
    return train;
  }

 private:
  // The nodes that hand in the replica's gradients.
  struct Accumulated {
    std::vector<Output> on_coordinator, elsewhere;

    void add(const Output& node, const std::string& coordinator) {
      (task_of(node.node().device) == coordinator ? on_coordinator : elsewhere).push_back(node);
    }
    std::vector<Output> all() const {
      std::vector<Output> nodes = on_coordinator;
      nodes.insert(nodes.end(), elsewhere.begin(), elsewhere.end());
      return nodes;
    }
  };

  // Whether a replica contributes to each step once. Then nobody gets a token of the next step before
  // each variable has its gradients of this one.
  bool contributes_once() const {
    return strategy_.initial_tokens == 0 && strategy_.replicas_to_aggregate <= t_.replication.replicas;
  }

  // What a replica waits for before it asks for its next token. Where it contributes once, the token
  // says that all variables have been updated, and the replica need not hear it from each: its gradients
  // on the coordinator's task stand for the question, or, if there are none, that all have been sent.
  std::vector<Output> asks_after(const Accumulated& accumulated) const {
    if (!contributes_once()) return gathered(t_, accumulated.all());
    return accumulated.on_coordinator.empty() ? handed_in() : accumulated.on_coordinator;
  }

  // The step and the serial of the replica's contribution, for a node on the device.
  std::vector<Output> contribution(const std::string& device) const {
    std::vector<Output> numbers = sent_->to(device);
    if (contributes_once())
      numbers.push_back(t_.graph.on(host_of(device),
                                    [&] { return t_.graph.constant(std::int64_t{0}, "only_serial"); }));
    return numbers;
  }

  // When all gradients are there, and so have been sent.
  std::vector<Output> handed_in() const {
    std::vector<Output> gradients;
    for (const auto& update : t_.updates) {
      const GradientInputs inputs(update.gradient);
      gradients.insert(gradients.end(), inputs.outputs.begin(), inputs.outputs.end());
    }
    return {t_.graph.on(t_.worker, [&] { return t_.graph.group(gradients, "handed_in"); })};
  }

  // A step without a task is found on the variable's own, where it is if no variable names one.
  void expect_coordinator_of(const Variable& variable) const {
    const std::string task = task_of(variable.device());
    if (!task.empty() && task_of(t_.global_step.device()).empty())
      throw invalid_argument("synchronous training: variable '" + variable.name() + "' is on " + task +
                             ", and the global step '" + t_.global_step.name() +
                             "' names no task; make it on one, as replica_device_setter() does");
  }

  Output accumulate(const GradientAndVariable& update) {
    Attrs attrs = update_attrs(t_, update.variable);
    attrs.merge(replica_attrs(t_.replication, strategy_));
    attrs["coordinator"] = task_of(t_.global_step.device());
    attrs["global_step"] = t_.global_step.name();
    GradientInputs inputs(update.gradient);
    auto& all = inputs.outputs;
    const std::string device = update.variable.device();  // a copy: the graph grows
    const auto numbers = contribution(device);
    all.insert(inputs.sparse ? all.begin() : all.end(), numbers.begin(), numbers.end());
    if (t_.learning_rate) all.push_back(t_.learning_rate);
    const OpDef& op = inputs.sparse ? accumulate_sparse_gradient_op() : accumulate_gradient_op();
    return t_.graph.on(
        device, [&] { return t_.graph.add(op, all, std::move(attrs), beside(update, "accumulate")); });
  }

  std::vector<TrainOp::Rejoin> rejoin() {
    std::vector<TrainOp::Rejoin> values;
    for (const auto& update : t_.updates)
      t_.graph.on(update.variable.device(), [&] { values.push_back(rejoin(update)); });
    return values;
  }

  TrainOp::Rejoin rejoin(const GradientAndVariable& update) {
    const Variable& variable = update.variable;
    const Output at_step = t_.graph.add(read_at_step_op(), {local_step_},
                                        {{"variable", variable.name()},
                                         {"dtype", variable.type().dtype},
                                         {"shape", variable.type().shape}},
                                        beside(update, "at_step"));
    const Output has_gradient =
        t_.graph.add(has_gradient_op(), {local_step_},
                     {{"variable", variable.name()}, {"replica", std::int64_t{t_.replication.replica}}},
                     beside(update, "has_gradient"));
    return {variable.value(), at_step, has_gradient};
  }

  Output take_token(const std::vector<Output>& after, const std::vector<Output>& last,
                    std::string_view name) {
    Attrs attrs = replica_attrs(t_.replication, strategy_);
    attrs["variable"] = t_.global_step.name();
    attrs["accumulators"] = static_cast<std::int64_t>(t_.updates.size());
    attrs["initial_tokens"] = std::int64_t{strategy_.initial_tokens};
    attrs["task"] = task_of(t_.worker);
    return t_.graph.on(t_.global_step.device(), [&] {
      return t_.graph.after(after,
                            [&] { return t_.graph.add(take_token_op(), last, std::move(attrs), name); });
    });
  }

  Output move_to(Output token) {
    std::vector<Output> before;
    if (local_serial_)
      before.push_back(t_.graph.assign(*local_serial_, token.output(1), "set_local_serial"));
    return t_.graph.after(before, [&] { return t_.graph.assign(local_step_, token, "set_local_step"); });
  }

  const Training& t_;
  const Synchronous& strategy_;
  Variable local_step_;
  std::optional<Variable> local_serial_;
  std::optional<SentNumbers> sent_;  // made when training is added
};

}  // namespace

// A replica's variables have names of their own, outside of the scope.
TrainOp add_training(const Training& t, const Synchronous& strategy) {
  SynchronousTraining training(t, strategy);
  return t.graph.name_scope(training_scope, [&] { return training.add(); });
}

}  // namespace actorflow
