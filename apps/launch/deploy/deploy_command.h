// `actorflow launch --to ...`: files by which a manager of machines starts a job.
#pragma once

#include <string>

#include "apps/launch/job_spec.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

struct DeployOptions {
  std::string to;           // kubernetes, tfjob, slurm, docker; "": none of them
  std::string output;       // a file; "": standard output
  std::string name;         // of the job; "": by the program's name
  std::string image;        // of Kubernetes' containers
  std::string claim;        // NAME:/PATH of a persistent volume claim, or ""
  std::string credentials;  // a folder, which gets what it lacks for mutual TLS, or ""
  std::string time_limit;   // of Slurm, [D-]HH:MM:SS, or "": the partition's
};

// Adds --to and the flags that go with it.
void add_deploy_flags(Command& command, DeployOptions& options);

// Writes what `options.to` names for the job, and returns the exit status. Throws UsageError that names
// the flag, what was expected and what came; Error if a file cannot be written. `job.hosts` are left
// to the manager of the machines.
int deploy_command(const DeployOptions& options, const JobSpec& job);

}  // namespace actorflow
