#include "apps/launch/task_environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "schema/environment/elastic_link.h"

namespace actorflow {
namespace {

std::string in_json(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (code < 0x20)
      quoted += fmt::format("\\u{:04x}", code);
    else
      quoted += c;
  }
  return quoted + '"';
}

void add_ranks(std::map<std::string, std::string>& variables, const RankNumbers& numbers) {
  const auto add = [&variables](const char* name, int value) {
    variables[name] = std::to_string(value);
  };
  add("RANK", numbers.rank);
  add("WORLD_SIZE", numbers.world_size);
  add("LOCAL_RANK", numbers.local_rank);
  add("LOCAL_WORLD_SIZE", numbers.local_world_size);
  add("CROSS_RANK", numbers.cross_rank);
  add("CROSS_SIZE", numbers.cross_size);
  add("GROUP_RANK", numbers.group_rank);
  add("GROUP_WORLD_SIZE", numbers.group_world_size);
}

// Where torch.distributed meets: rank 0's host, and a port that no task serves.
void add_master(std::map<std::string, std::string>& variables, const std::vector<LaunchedTask>& tasks,
                const JobAddresses& addresses) {
  const auto first = std::ranges::find_if(tasks, &LaunchedTask::is_first_rank);
  if (first == tasks.end() || addresses.master_port == 0) return;
  variables["MASTER_ADDR"] = addresses.hosts.at(static_cast<std::size_t>(first->host));
  variables["MASTER_PORT"] = std::to_string(addresses.master_port);
}

// The variables that every task has.
std::map<std::string, std::string> common(const LaunchedTask& task) {
  std::map<std::string, std::string> variables;
  variables["ACTORFLOW_RESTART_COUNT"] = std::to_string(task.restart);
  variables["TORCHELASTIC_RESTART_COUNT"] = std::to_string(task.restart);
  if (task.gpus) variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(*task.gpus, ","));
  return variables;
}

std::vector<EnvironmentVariable> as_list(const std::map<std::string, std::string>& variables) {
  std::vector<EnvironmentVariable> list;
  for (const auto& [name, value] : variables) list.push_back({name, value});
  return list;
}

}  // namespace

std::string address_of(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != host.npos;
  return (is_ipv6 ? "[" + host + "]:" : host + ":") + std::to_string(port);
}

std::string tf_config(const std::vector<LaunchedTask>& tasks, const LaunchedTask& task,
                      const JobAddresses& addresses) {
  std::map<std::string, std::vector<std::string>> jobs;
  for (const auto& each : tasks)
    if (each.is_served())
      jobs[each.name.job].push_back(
          in_json(address_of(addresses.hosts.at(static_cast<std::size_t>(each.host)), each.port)));
  std::vector<std::string> members;
  for (const auto& [job, members_of_job] : jobs)
    members.push_back(fmt::format("{}: [{}]", in_json(job), fmt::join(members_of_job, ", ")));
  return fmt::format(R"({{"cluster": {{{}}}, "task": {{"type": {}, "index": {}}}}})",
                     fmt::join(members, ", "), in_json(task.name.job), task.name.index);
}

std::vector<EnvironmentVariable> task_environment(const std::vector<LaunchedTask>& tasks,
                                                  const LaunchedTask& task,
                                                  const JobAddresses& addresses) {
  std::map<std::string, std::string> variables = common(task);
  variables["TF_CONFIG"] = tf_config(tasks, task, addresses);
  if (task.rank) add_ranks(variables, *task.rank);
  if (task.rank) add_master(variables, tasks, addresses);
  return as_list(variables);
}

std::vector<EnvironmentVariable> elastic_environment(const LaunchedTask& task, int workers) {
  std::map<std::string, std::string> variables = common(task);
  variables[elastic_workers_variable] = std::to_string(workers);
  variables[elastic_task_variable] = std::to_string(task.name.index);
  if (task.rank) variables["LOCAL_RANK"] = std::to_string(task.rank->local_rank);
  return as_list(variables);
}

const std::vector<std::string>& launcher_variables() {
  static const std::vector<std::string> names{"TF_CONFIG",
                                              "RANK",
                                              "WORLD_SIZE",
                                              "LOCAL_RANK",
                                              "LOCAL_WORLD_SIZE",
                                              "CROSS_RANK",
                                              "CROSS_SIZE",
                                              "GROUP_RANK",
                                              "MASTER_ADDR",
                                              "MASTER_PORT",
                                              "GROUP_WORLD_SIZE",
                                              "OMPI_COMM_WORLD_RANK",
                                              "OMPI_COMM_WORLD_SIZE",
                                              "OMPI_COMM_WORLD_LOCAL_RANK",
                                              "OMPI_COMM_WORLD_LOCAL_SIZE",
                                              "OMPI_COMM_WORLD_NODE_RANK",
                                              "PMI_RANK",
                                              "PMI_SIZE",
                                              "MPI_LOCALNRANKS",
                                              "MPI_LOCALRANKID",
                                              "SLURM_PROCID",
                                              "SLURM_LOCALID",
                                              "SLURM_STEP_NUM_TASKS",
                                              elastic_descriptor_variable,
                                              elastic_socket_variable,
                                              elastic_workers_variable,
                                              elastic_task_variable};
  return names;
}

}  // namespace actorflow
