#include "dataflow/train/replica_training.h"

#include <map>
#include <optional>
#include <utility>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

Attrs replica_attrs(const Replication& r, const Synchronous& s) {
  const int wanted = s.replicas_to_aggregate > 0 ? s.replicas_to_aggregate : r.replicas;
  return {{"replica", std::int64_t{r.replica}},
          {"total_num_replicas", std::int64_t{r.replicas}},
          {"replicas_to_aggregate", std::int64_t{wanted}}};
}

// The task of a device in the form of TaskName, "" if it names none.
std::string task_of(const std::string& device) {
  const auto name = DeviceName::parse(device);
  return name.job && name.task ? TaskName{*name.job, *name.task}.to_string() : "";
}

// The CPU of a device's task: what is counted with an update is looked at there.
std::string host_of(const std::string& device) {
  auto name = DeviceName::parse(device);
  name.type = "CPU";
  name.index = 0;
  return name.to_string();
}

std::map<std::string, std::vector<Output>> by_task(const std::vector<Output>& updates) {
  std::map<std::string, std::vector<Output>> tasks;
  for (const auto& update : updates) tasks[task_of(update.node().device)].push_back(update);
  return tasks;
}

// What the task of the global step waits for, so that a step counts after its updates. A task of few
// reports once, when it has made all of its updates. Many report to the replica, which reports once:
// otherwise every task would report to that one task for every replica, and with many replicas it is the
// first to be busy all the time.
std::vector<Output> gathered(const Training& t, const std::vector<Output>& updates) {
  constexpr std::size_t few = 2;
  const auto tasks = by_task(updates);
  if (tasks.size() > few)
    return {t.graph.on(t.worker, [&] { return t.graph.group(updates, "updated"); })};
  std::vector<Output> reports;
  for (const auto& [task, own] : tasks) {
    const std::string host = host_of(own[0].node().device);  // a copy: the graph grows
    if (own.size() == 1 || task == task_of(t.global_step.device()))
      reports.insert(reports.end(), own.begin(), own.end());
    else
      reports.push_back(t.graph.on(host, [&] { return t.graph.group(own, "updated"); }));
  }
  return reports;
}

// A variable of the replica's own, on its device.
Variable local_variable(const Training& t, const std::string& what) {
  const auto name = what + "/" + std::to_string(t.replication.replica);
  return t.graph.on(t.worker, [&] {
    return t.graph.variable(name, t.graph.constant(std::int64_t{0}, name + "/initial"));
  });
}

Output count_gradients(const Training& t, const Variable& variable, const std::string& name) {
  return t.graph.on(variable.device(), [&] {
    return t.graph.add(
        gradient_counts_op(), {},
        {{"variable", variable.name()}, {"total_num_replicas", std::int64_t{t.replication.replicas}}},
        name);
  });
}

// Numbers that go to other tasks with the gradients. To each task they leave with the first one that it
// gets, which is that of the last of its variables; earlier they would wake it once more.
class SentNumbers {
 public:
  using Named = std::pair<Output, std::string_view>;

  SentNumbers(const Training& t, const std::vector<Named>& numbers) {
    std::map<std::string, const GradientAndVariable*> first;
    for (const auto& update : t.updates) first[task_of(update.variable.device())] = &update;
    for (const auto& [task, update] : first) sent_[task] = after_gradient(t, update->gradient, numbers);
  }

  // As they are sent to a task that gets gradients; any of them for another task.
  const std::vector<Output>& to(const std::string& device) const {
    const auto found = sent_.find(task_of(device));
    return found == sent_.end() ? sent_.rbegin()->second : found->second;
  }

 private:
  static std::vector<Output> after_gradient(const Training& t, const Output& gradient,
                                            const std::vector<Named>& numbers) {
    const GradientInputs inputs(gradient);
    std::vector<Output> sent;
    t.graph.on(host_of(t.worker), [&] {
      t.graph.after({inputs.outputs[0]}, [&] {
        for (const auto& [number, name] : numbers)
          sent.push_back(t.graph.add(identity_op(), {number}, {}, name));
      });
    });
    return sent;
  }

  std::map<std::string, std::vector<Output>> sent_;  // by task
};

// Each update carries the serial of its step, by which it is known when a step is made again after a
// failure: a constant of the replica's, sent with the gradients. If each task were fed its own, none
// could begin a step before the client asks for it.
class AsynchronousTraining {
 public:
  explicit AsynchronousTraining(const Training& t)
      : t_(t),
        serial_(
            t.graph.on(host_of(t.worker), [&] { return t.graph.constant(std::int64_t{-1}, "serial"); })),
        sent_(t, {{serial_, "sent_serial"}}) {}

  TrainOp add() {
    std::vector<Output> applied, counts;
    for (const auto& update : t_.updates) {
      applied.push_back(apply(update));
      counts.push_back(count_gradients(t_, update.variable, beside(update, "gradient_counts")));
    }
    TrainOp train;
    train.step = t_.graph.after(gathered(t_, applied), [&] {
      return on_global_step(
          count_step_op(), {t_.global_step.value(), sent_.to(t_.global_step.device())[0]}, "count_step");
    });
    train.local_step = t_.global_step;
    train.serials = {serial_};
    train.next_serial = on_global_step(next_serial_op(), {}, "next_serial");
    train.gradient_counts = std::move(counts);
    train.step_counts = count_gradients(t_, t_.global_step, "step_counts");
    return train;
  }

 private:
  Output apply(const GradientAndVariable& update) {
    const std::string device = update.variable.device();  // a copy: the graph grows
    GradientInputs inputs(update.gradient);
    auto& all = inputs.outputs;
    all.insert(inputs.sparse ? all.begin() : all.end(), sent_.to(device)[0]);
    if (t_.learning_rate) all.push_back(t_.learning_rate);
    Attrs attrs = update_attrs(t_, update.variable);
    attrs.merge(serial_attrs());
    return t_.graph.on(device, [&] {
      return t_.graph.add(inputs.sparse ? apply_sparse_gradient_op() : apply_gradient_op(), all,
                          std::move(attrs), beside(update, "apply"));
    });
  }

  Output on_global_step(const OpDef& op, const std::vector<Output>& inputs, std::string_view name) {
    Attrs attrs = serial_attrs();
    attrs["variable"] = t_.global_step.name();
    return t_.graph.on(t_.global_step.device(),
                       [&] { return t_.graph.add(op, inputs, std::move(attrs), name); });
  }

  Attrs serial_attrs() const {
    return {{"replica", std::int64_t{t_.replication.replica}}, {"train_op", serial_.name()}};
  }

  const Training& t_;
  Output serial_;
  SentNumbers sent_;
};

// Bounded staleness: holds back a replica that is too far ahead. The replica's clock moves after its
// step has been counted.
class ReplicaClock {
 public:
  ReplicaClock(const Training& t, const BoundedStaleness& strategy)
      : t_(t), bound_(strategy.bound), clock_(local_variable(t, "clock")) {}

  TrainOp add(TrainOp train) {
    const Output advanced = t_.graph.after(
        {train.step}, [&] { return add_op(advance_clock_op(), {clock_}, attrs(), "advance_clock"); });
    const Output moved = t_.graph.assign(clock_, advanced, "set_clock");
    train.step = t_.graph.on(t_.worker, [&] {
      return t_.graph.after({moved},
                            [&] { return t_.graph.add(identity_op(), {train.step}, {}, "step"); });
    });
    Attrs joining = attrs();
    joining["task"] = task_of(t_.worker);
    train.local_init =
        t_.graph.assign(clock_, add_op(join_clocks_op(), {}, std::move(joining), "join"), "begin_clock");
    train.leave = add_op(leave_clocks_op(), {}, attrs(), "leave");
    train.max_lead = add_op(clock_statistics_op(), {}, attrs(), "max_lead");
    return train;
  }

 private:
  Attrs attrs() const {
    return {{"variable", t_.global_step.name()},
            {"replica", std::int64_t{t_.replication.replica}},
            {"total_num_replicas", std::int64_t{t_.replication.replicas}},
            {"staleness_bound", bound_}};
  }
  Output add_op(const OpDef& op, const std::vector<Output>& inputs, Attrs attrs, std::string_view name) {
    return t_.graph.on(t_.global_step.device(),
                       [&] { return t_.graph.add(op, inputs, std::move(attrs), name); });
  }

  const Training& t_;
  const std::int64_t bound_;
  Variable clock_;
};

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

TrainOp add_training(const Training& t, const Asynchronous&) {
  return t.graph.name_scope(training_scope, [&] { return AsynchronousTraining(t).add(); });
}

TrainOp add_training(const Training& t, const BoundedStaleness& strategy) {
  return t.graph.name_scope(training_scope, [&] {
    TrainOp train = AsynchronousTraining(t).add();
    return ReplicaClock(t, strategy).add(std::move(train));
  });
}

// A replica's variables have names of their own, outside of the scope.
TrainOp add_training(const Training& t, const Synchronous& strategy) {
  SynchronousTraining training(t, strategy);
  return t.graph.name_scope(training_scope, [&] { return training.add(); });
}

}  // namespace actorflow
