// The files that jobs are written as. All throw UsageError.
#pragma once

#include <string>

#include "apps/launch/deploy/deploy_command.h"

namespace actorflow {

// An Indexed Job for each role and a headless Service. Each pod knows its rank from its index, and the
// others by the names that the Service gives them.
std::string kubernetes_manifest(const DeployOptions& options, const JobSpec& job);
// A TFJob v1 of Kubeflow's training operator, which tells tasks their TF_CONFIG.
std::string tfjob_manifest(const DeployOptions& options, const JobSpec& job);
// A batch file for sbatch.
std::string slurm_batch_file(const DeployOptions& options, const JobSpec& job);
// A Dockerfile, for the folder of the project's sources.
std::string dockerfile(const DeployOptions& options, const JobSpec& job);

}  // namespace actorflow
