// The command line of a program of jobs. For run_jobs().
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/jobs/job_options.h"
#include "actors/jobs/run_job.h"
#include "actors/task/server.h"

namespace actorflow {

struct JobFlags {
  std::string job;
  JobOptions options;
  bool json = false, quiet = false;
  // The server of a task of a cluster; none: this process runs the job alone.
  std::optional<ServerOptions> server;
};

// Throws CLI::ParseError (which includes --help and --version), and invalid_argument for mistakes that
// CLI11 does not see. `jobs` outlives the help.
JobFlags parse_job_flags(CLI::App& app, std::vector<std::string> arguments, const JobTable& jobs);

}  // namespace actorflow
