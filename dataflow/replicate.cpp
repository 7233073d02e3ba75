#include "dataflow/replicate.h"

#include <algorithm>
#include <memory>

#include "dataflow/containers.h"
#include "dataflow/core_ops.h"
#include "dataflow/device_name.h"
#include "dataflow/gradient.h"
#include "dataflow/state_ops.h"
#include "dataflow/training_ops.h"

namespace actorflow {
namespace {

struct Update {
  Variable variable;
  Output gradient;
};

void check_replication(const Replication& r) {
  if (r.replicas < 1 || r.replica < 0 || r.replica >= r.replicas)
    throw invalid_argument("replica " + std::to_string(r.replica) + " is not one of " +
                           std::to_string(r.replicas) + " replicas; they are numbered from 0");
  if (r.replicas_to_aggregate < 0 || r.initial_tokens < 0)
    throw invalid_argument("replicas_to_aggregate and initial_tokens must be 0 or more, got " +
                           std::to_string(r.replicas_to_aggregate) + " and " +
                           std::to_string(r.initial_tokens));
}

std::vector<Update> find_updates(Output loss, const std::vector<Variable>& variables) {
  const auto computed = gradients(loss, {variables.begin(), variables.end()});
  std::vector<Update> updates;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (computed[i]) updates.push_back({variables[i], computed[i]});
  if (updates.empty())
    throw invalid_argument("the loss '" + loss.name() + "' depends on none of the " +
                           std::to_string(variables.size()) +
                           " variables to train, or only through ops without a gradient");
  return updates;
}

Attrs update_attrs(const Variable& variable, const Optimizer& optimizer) {
  return {{"variable", variable.name()},
          {"optimizer", std::string(optimizer_name(optimizer))},
          {"hyperparameters", hyperparameters(optimizer)}};
}

Attrs replica_attrs(const Replication& r) {
  const int wanted = r.replicas_to_aggregate > 0 ? r.replicas_to_aggregate : r.replicas;
  return {{"replica", std::int64_t{r.replica}},
          {"total_num_replicas", std::int64_t{r.replicas}},
          {"replicas_to_aggregate", std::int64_t{wanted}}};
}

// The task of a device in the form of TaskName, "" if it names none.
std::string task_of(const std::string& device) {
  const auto name = DeviceName::parse(device);
  return name.job && name.task ? TaskName{*name.job, *name.task}.to_string() : "";
}

// The name of a node beside a variable, outside of the scope that the variable's own name begins with.
std::string beside(const Update& update, const char* what) {
  return std::string(what) + "/" + update.variable.name();
}

TrainOp train_asynchronously(Graph& graph, const std::vector<Update>& updates, Variable step,
                             const Optimizer& optimizer) {
  std::vector<Output> applied;
  for (const auto& update : updates)
    applied.push_back(graph.on(update.variable.device(), [&] {
      return graph.add(apply_gradient_op(), {update.gradient}, update_attrs(update.variable, optimizer),
                       beside(update, "apply"));
    }));
  const Output counted = graph.on(step.device(), [&] {
    return graph.after(applied, [&] {
      return graph.add(count_step_op(), {step.value()}, {{"variable", step.name()}}, "count_step");
    });
  });
  return {counted, {}};
}

class SynchronousTraining {
 public:
  SynchronousTraining(Graph& graph, Output loss, Variable step, const Replication& replication)
      : graph_(graph), worker_(loss.node().device), step_(step), replication_(replication) {
    local_step_ = graph.on(worker_, [&] {
      const auto name = "local_step/" + std::to_string(replication.replica);
      return graph.variable(name, graph.constant(std::int64_t{0}, name + "/initial"));
    });
  }

  TrainOp add(const std::vector<Update>& updates, const Optimizer& optimizer) {
    std::vector<Output> accumulated;
    for (const auto& update : updates) accumulated.push_back(accumulate(update, optimizer));
    const Output token = take_token(accumulated);
    const Output advanced = set_local_step(token);
    const Output after = graph_.on(worker_, [&] {
      return graph_.after({advanced}, [&] { return graph_.add(identity_op(), {token}, {}, "step"); });
    });
    return {after, set_local_step(step_.value())};
  }

 private:
  Output accumulate(const Update& update, const Optimizer& optimizer) {
    Attrs attrs = update_attrs(update.variable, optimizer);
    attrs.merge(replica_attrs(replication_));
    attrs["coordinator"] = task_of(step_.device());
    attrs["global_step"] = step_.name();
    return graph_.on(update.variable.device(), [&] {
      return graph_.add(accumulate_gradient_op(), {update.gradient, local_step_}, std::move(attrs),
                        beside(update, "accumulate"));
    });
  }

  Output take_token(const std::vector<Output>& accumulated) {
    Attrs attrs = replica_attrs(replication_);
    attrs["variable"] = step_.name();
    attrs["accumulators"] = static_cast<std::int64_t>(accumulated.size());
    attrs["initial_tokens"] = std::int64_t{replication_.initial_tokens};
    return graph_.on(step_.device(), [&] {
      return graph_.after(
          accumulated, [&] { return graph_.add(take_token_op(), {}, std::move(attrs), "take_token"); });
    });
  }

  Output set_local_step(Output value) {
    return graph_.assign(local_step_, value, "set_local_step");
  }

  Graph& graph_;
  std::string worker_;
  Variable step_;
  Replication replication_;
  Variable local_step_;
};

}  // namespace

Variable global_step(Graph& graph) {
  const auto name = in_container(graph.current_container(), "global_step");
  const auto found = std::ranges::find(graph.variables(), name, &Variable::name);
  if (found != graph.variables().end()) return *found;
  return graph.variable("global_step", graph.constant(std::int64_t{0}, "global_step/initial"));
}

TrainOp minimize(Graph& graph, Output loss, const std::vector<Variable>& variables, Variable global_step,
                 const Optimizer& optimizer, const Replication& replication) {
  check_replication(replication);
  const auto updates = find_updates(loss, variables);
  if (!replication.sync)
    return graph.name_scope(
        "train", [&] { return train_asynchronously(graph, updates, global_step, optimizer); });
  SynchronousTraining training(graph, loss, global_step, replication);
  return graph.name_scope("train", [&] { return training.add(updates, optimizer); });
}

DeviceFunction replica_device_setter(int ps_tasks, const std::string& ps_job,
                                     const std::string& worker_device) {
  if (ps_tasks == 0) return [](const Node&) { return std::string(); };
  if (ps_tasks < 0 || !is_job_name(ps_job))
    throw invalid_argument("replica_device_setter: expected a job name and 0 or more tasks, got '" +
                           ps_job + "' and " + std::to_string(ps_tasks));
  DeviceName::parse(worker_device);
  return [=, next = std::make_shared<int>(0)](const Node& node) {
    if (node.op != &read_variable_op()) return worker_device;
    const int task = (*next)++ % ps_tasks;
    return TaskName{ps_job, task}.to_string();
  };
}

}  // namespace actorflow
