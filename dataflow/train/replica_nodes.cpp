#include "dataflow/train/replica_nodes.h"

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

std::map<std::string, std::vector<Output>> by_task(const std::vector<Output>& updates) {
  std::map<std::string, std::vector<Output>> tasks;
  for (const auto& update : updates) tasks[task_of(update.node().device)].push_back(update);
  return tasks;
}

std::vector<Output> after_gradient(const Training& t, const Output& gradient,
                                   const std::vector<SentNumbers::Named>& numbers) {
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

}  // namespace

std::string task_of(const std::string& device) {
  const auto name = DeviceName::parse(device);
  return name.job && name.task ? TaskName{*name.job, *name.task}.to_string() : "";
}

std::string host_of(const std::string& device) {
  auto name = DeviceName::parse(device);
  name.type = "CPU";
  name.index = 0;
  return name.to_string();
}

// A task of few reports once, when it has made all of its updates. Many report to the replica, which
// reports once: otherwise every task would report to that one task for every replica, and with many
// replicas it is the first to be busy all the time.
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

SentNumbers::SentNumbers(const Training& t, const std::vector<Named>& numbers) {
  std::map<std::string, const GradientAndVariable*> first;
  for (const auto& update : t.updates) first[task_of(update.variable.device())] = &update;
  for (const auto& [task, update] : first) sent_[task] = after_gradient(t, update->gradient, numbers);
}

const std::vector<Output>& SentNumbers::to(const std::string& device) const {
  const auto found = sent_.find(task_of(device));
  return found == sent_.end() ? sent_.rbegin()->second : found->second;
}

}  // namespace actorflow
