// What a Job and a TFJob of Kubernetes have in common.
#pragma once

#include <string>
#include <vector>

#include "apps/launch/deploy/deploy_command.h"
#include "schema/json_tree.h"

namespace actorflow {

// The port of each task, each on an address of its own.
inline constexpr int task_port = 2222;

// Tasks that are alike.
struct Role {
  std::string job;  // ps, chief, worker, evaluator
  int count = 0;
};

// The roles that a job has.
std::vector<Role> roles_of(const JobSpec& job);

// The job's name as DNS label: of the option, or of the program. Throws UsageError unless it and the
// names of all its tasks, with `suffix` after it, are labels.
std::string job_name(const DeployOptions& options, const JobSpec& job);

// A container of a role with the program; `variables` stand before those of the job.
JsonTree container(const std::string& name, const Role& role, const DeployOptions& options,
                   const JobSpec& job, JsonTree::List variables);
// {"name": ..., "value": ...}, the value as Kubernetes reads it.
JsonTree variable(const std::string& name, const std::string& value);
// The volumes of a role's pods: its secret and the claim, if there are any.
JsonTree::List volumes(const std::string& name, const Role& role, const DeployOptions& options);
// Makes those credentials of the job's tasks that the option's folder lacks, if it names one.
void make_credentials(const DeployOptions& options, const JobSpec& job);
// A Secret for each role with the credentials of its tasks; none without the option. Makes those first.
JsonTree::List secrets(const std::string& name, const DeployOptions& options, const JobSpec& job);

JsonTree labels(const std::string& name);
// A list of objects for `kubectl apply -f`, as text.
std::string manifest(JsonTree::List items);

}  // namespace actorflow
