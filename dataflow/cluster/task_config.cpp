#include "dataflow/cluster/task_config.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string_view>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

constexpr std::string_view evaluator_job = "evaluator";

// "" if the cluster has the task.
std::string unknown_task(const ClusterSpec::Jobs& jobs, const TaskName& task) {
  const auto job = jobs.find(task.job);
  if (job != jobs.end()) {
    if (job->second.contains(task.index)) return {};
    return "the task's index " + std::to_string(task.index) + " is outside job " + quoted(task.job) +
           ", which has " + std::to_string(job->second.size()) + " tasks";
  }
  // An evaluator needs no address: nobody talks to it.
  if (task.job == evaluator_job)
    return task.index == 0
               ? ""
               : "the evaluator's index is " + std::to_string(task.index) + ", but must be 0";
  const auto names = std::views::keys(jobs);
  const std::vector<std::string_view> known(names.begin(), names.end());
  return "the task's job " + quoted(task.job) + " is not one of " +
         (known.empty() ? "none" : joined(known, ", ", quoted)) + did_you_mean(task.job, known);
}

std::vector<TaskName> replicas_of(const ClusterSpec& cluster) {
  std::vector<TaskName> replicas;
  for (const char* job : {"chief", "master", "worker"})
    for (const auto& task : cluster.all_tasks())
      if (task.job == job) replicas.push_back(task);
  return replicas;
}

}  // namespace

std::vector<std::string> role_mistakes(const ClusterSpec::Jobs& jobs, const TaskName& task) {
  std::vector<std::string> mistakes;
  if (jobs.contains("chief") && jobs.contains("master"))
    mistakes.push_back("there is a 'chief' and a 'master'; name the chief's job one of the two");
  for (const auto job : {std::string_view("chief"), std::string_view("master"), evaluator_job})
    if (const auto found = jobs.find(job); found != jobs.end() && found->second.size() > 1)
      mistakes.push_back("job " + quoted(job) + " has " + std::to_string(found->second.size()) +
                         " tasks, but at most one is allowed");
  if (auto mistake = unknown_task(jobs, task); !mistake.empty()) mistakes.push_back(std::move(mistake));
  return mistakes;
}

TaskConfig TaskConfig::make(ClusterSpec::Jobs jobs, const TaskName& task) {
  std::string lines;
  for (const auto& mistake : role_mistakes(jobs, task)) lines += (lines.empty() ? "" : "\n") + mistake;
  jobs.erase(std::string(evaluator_job));
  TaskConfig config;
  config.task = task;
  try {
    config.cluster = ClusterSpec(std::move(jobs));
  } catch (const Error& error) {
    lines += (lines.empty() ? "" : "\n") + std::string(error.what());
  }
  if (!lines.empty()) throw invalid_argument(lines);
  config.replicas = replicas_of(config.cluster);
  const auto found = std::ranges::find(config.replicas, task);
  if (found != config.replicas.end()) config.replica = static_cast<int>(found - config.replicas.begin());
  return config;
}

TaskConfig TaskConfig::make(const ClusterSpec& cluster, const TaskName& task) {
  ClusterSpec::Jobs jobs;
  for (const auto& job : cluster.jobs()) jobs[job] = cluster.tasks(job);
  return make(std::move(jobs), task);
}

std::vector<std::string> TaskConfig::replica_names() const {
  std::vector<std::string> names;
  for (const TaskName& name : replicas) names.push_back(name.to_string());
  return names;
}

TaskConfig TaskConfig::grouped(int tasks_per_replica) const {
  if (tasks_per_replica < 1 || num_replicas() % tasks_per_replica != 0)
    throw invalid_argument(
        "the " + std::to_string(num_replicas()) + " tasks that train cannot be divided into groups of " +
        std::to_string(tasks_per_replica) + ", one for each replica; start a multiple of that");
  TaskConfig config = *this;
  config.replicas.clear();
  for (int first = 0; first < num_replicas(); first += tasks_per_replica)
    config.replicas.push_back(replicas[static_cast<std::size_t>(first)]);
  const bool runs_one = replica >= 0 && replica % tasks_per_replica == 0;
  config.replica = runs_one ? replica / tasks_per_replica : -1;
  return config;
}

const TaskName& TaskConfig::chief() const {
  if (replicas.empty())
    throw invalid_argument("the cluster has no task that trains; give it a 'chief' or a 'worker'");
  return replicas.front();
}

}  // namespace actorflow
