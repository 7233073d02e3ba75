#include "dataflow/train/replica_device_setter.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

void check_tasks(int ps_tasks) {
  if (ps_tasks < 1)
    throw invalid_argument("a strategy needs 1 or more parameter servers, got " +
                           std::to_string(ps_tasks));
}

int checked(int task, int ps_tasks, const Node& variable) {
  if (task < 0 || task >= ps_tasks)
    throw invalid_argument("replica_device_setter: the strategy put variable '" + variable.name +
                           "' on task " + std::to_string(task) + " of " + std::to_string(ps_tasks) +
                           "; expected 0 to " + std::to_string(ps_tasks - 1));
  return task;
}

}  // namespace

PsStrategy round_robin(int ps_tasks) {
  check_tasks(ps_tasks);
  return [ps_tasks, next = std::make_shared<int>(0)](const Node&) { return (*next)++ % ps_tasks; };
}

PsStrategy greedy_by_bytes(int ps_tasks) {
  check_tasks(ps_tasks);
  const auto loads = std::make_shared<std::vector<std::int64_t>>(ps_tasks);
  return [loads](const Node& variable) {
    const auto least = std::ranges::min_element(*loads);
    *least += variable.outputs[0].bytes();
    return static_cast<int>(least - loads->begin());
  };
}

PsStrategy make_ps_strategy(std::string_view name, int ps_tasks) {
  if (name == "round_robin") return round_robin(ps_tasks);
  if (name == "greedy") return greedy_by_bytes(ps_tasks);
  const std::vector<std::string_view> known{"round_robin", "greedy"};
  throw invalid_argument("unknown ps strategy '" + std::string(name) +
                         "'; expected round_robin or greedy" + did_you_mean(name, known));
}

std::string device_in_task(const std::string& device) {
  if (device.empty()) return "";
  const DeviceName name = DeviceName::parse("/" + device);
  if (!names_no_task(name) || !name.type)
    throw invalid_argument("expected a device such as gpu:0 or cpu:0, got '" + device + "'");
  return name.to_string();
}

DeviceFunction replica_device_setter(int ps_tasks, const std::string& ps_job,
                                     const std::string& worker_device, PsStrategy strategy) {
  if (ps_tasks == 0) return [](const Node&) { return std::string(); };
  if (ps_tasks < 0 || !is_job_name(ps_job))
    throw invalid_argument("replica_device_setter: expected a job name and 0 or more tasks, got '" +
                           ps_job + "' and " + std::to_string(ps_tasks));
  DeviceName::parse(worker_device);
  if (!strategy) strategy = round_robin(ps_tasks);
  return [=](const Node& node) {
    if (node.op != &read_variable_op()) return worker_device;
    const DeviceName asked = DeviceName::parse(node.device);
    if (asked.job && *asked.job != ps_job) return worker_device;
    if (asked.task) return "/job:" + ps_job;
    return TaskName{ps_job, checked(strategy(node), ps_tasks, node)}.to_string();
  };
}

}  // namespace actorflow
