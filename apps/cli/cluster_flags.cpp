#include "apps/cli/cluster_flags.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

#include "apps/cli/program.h"
#include "schema/environment/task_from_environment.h"

namespace actorflow {
namespace {

ClusterSpec::Tasks tasks_of(const char* flag, const std::string& value) {
  ClusterSpec::Tasks tasks;
  for (auto& address : ClusterSpec::parse_hosts(flag, value))
    tasks.emplace(static_cast<int>(tasks.size()), std::move(address));
  return tasks;
}

ClusterSpec::Jobs jobs_of(const std::string& ps_hosts, const std::string& worker_hosts) {
  ClusterSpec::Jobs jobs;
  if (!ps_hosts.empty()) jobs["ps"] = tasks_of("--ps_hosts", ps_hosts);
  jobs["worker"] = tasks_of("--worker_hosts", worker_hosts);
  return jobs;
}

bool names_a_task_in_environment() {
  bool names = false;
  check_usage([&] { names = has_task_in_environment(); });
  return names;
}

}  // namespace

ClusterSpec cluster_of_hosts(const std::string& ps_hosts, const std::string& worker_hosts) {
  return ClusterSpec(jobs_of(ps_hosts, worker_hosts));
}

void ClusterFlags::add_to(Command& command) {
  const auto add = [&command](const char* name, auto& value, const char* what) {
    command.option(both_spellings(name), value, what);
  };
  add("ps_hosts", ps_hosts_,
      "Addresses of the parameter servers, host:port,host:port,...; none with --strategy multi_worker");
  add("worker_hosts", worker_hosts_, "Addresses of the workers; the first is the chief");
  add("job_name", job_name_, "ps or worker");
  add("task_index", task_index_, "Which of its job's tasks this process is, from 0 on");
  command.footer(
      "Without --ps_hosts, --worker_hosts, --job_name and --task_index the environment says which task "
      "this is: TF_CONFIG, or the variables of mpirun, srun or torchrun.");
}

bool ClusterFlags::are_given() const { return ps_hosts_ || worker_hosts_ || job_name_ || task_index_; }

bool ClusterFlags::name_a_task() const { return are_given() || names_a_task_in_environment(); }

TaskConfig ClusterFlags::task(bool has_ps) const {
  if (are_given()) {
    if (names_a_task_in_environment())
      spdlog::info("the cluster is that of the flags; the environment's is left alone");
    return from_flags(has_ps);
  }
  std::optional<TaskConfig> config;
  check_usage([&] { config = task_from_environment([](const auto& wait) { spdlog::info(wait); }); });
  if (!config) return from_flags(has_ps);
  spdlog::info("{} of the cluster in the environment", config->task.to_string());
  return *config;
}

TaskConfig ClusterFlags::from_flags(bool has_ps) const {
  std::string missing;
  const auto need = [&missing](const char* flag, bool given) {
    if (!given) missing += std::string(missing.empty() ? "" : ", ") + flag;
  };
  need("--ps_hosts", ps_hosts_.has_value() || !has_ps);
  need("--worker_hosts", worker_hosts_.has_value());
  need("--job_name", job_name_.has_value());
  need("--task_index", task_index_.has_value());
  if (!missing.empty())
    throw UsageError(
        fmt::format("missing {}; each is required where neither TF_CONFIG nor a launcher (mpirun, srun, "
                    "...) names the task",
                    missing));
  TaskConfig config;
  check_usage([&] {
    config =
        TaskConfig::make(jobs_of(ps_hosts_.value_or(""), *worker_hosts_), {*job_name_, *task_index_});
  });
  return config;
}

}  // namespace actorflow
