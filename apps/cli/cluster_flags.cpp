#include "apps/cli/cluster_flags.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

#include "apps/cli/program.h"
#include "schema/cluster_json.h"

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

}  // namespace

ClusterSpec cluster_of_hosts(const std::string& ps_hosts, const std::string& worker_hosts) {
  return ClusterSpec(jobs_of(ps_hosts, worker_hosts));
}

void ClusterFlags::add_to(CLI::App& app) {
  const auto add = [&app](const char* name, auto& value, const char* what) {
    app.add_option(both_spellings(name), value, what);
  };
  add("ps_hosts", ps_hosts_, "Addresses of the parameter servers, host:port,host:port,...");
  add("worker_hosts", worker_hosts_, "Addresses of the workers; the first is the chief");
  add("job_name", job_name_, "ps or worker");
  add("task_index", task_index_, "Which of its job's tasks this process is, from 0 on");
  app.footer(
      "Without --ps_hosts, --worker_hosts, --job_name and --task_index the environment variable "
      "TF_CONFIG says which task this is.");
}

bool ClusterFlags::are_given() const { return ps_hosts_ || worker_hosts_ || job_name_ || task_index_; }

bool ClusterFlags::name_a_task() const { return are_given() || tf_config(); }

TaskConfig ClusterFlags::task() const {
  const auto environment = tf_config();
  if (are_given() || !environment) {
    if (environment) spdlog::info("the cluster is that of the flags; TF_CONFIG is left alone");
    return from_flags();
  }
  TaskConfig config;
  check_usage([&] { config = parse_tf_config(*environment); });
  spdlog::info("{} of the cluster in TF_CONFIG", config.task.to_string());
  return config;
}

TaskConfig ClusterFlags::from_flags() const {
  std::string missing;
  const auto need = [&missing](const char* flag, bool given) {
    if (!given) missing += std::string(missing.empty() ? "" : ", ") + flag;
  };
  need("--ps_hosts", ps_hosts_.has_value());
  need("--worker_hosts", worker_hosts_.has_value());
  need("--job_name", job_name_.has_value());
  need("--task_index", task_index_.has_value());
  if (!missing.empty())
    throw UsageError(
        fmt::format("missing {}; each is required where TF_CONFIG does not name the task", missing));
  TaskConfig config;
  check_usage([&] {
    config = TaskConfig::make(jobs_of(*ps_hosts_, *worker_hosts_), {*job_name_, *task_index_});
  });
  return config;
}

}  // namespace actorflow
