// The command line of a program of jobs. For run_jobs().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/jobs/context/job_options.h"
#include "actors/jobs/run_job.h"
#include "actors/task/server.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

struct JobFlags {
  std::string job;
  JobOptions options;
  bool json = false, quiet = false;
  // The server of a task of a cluster; none: this process runs the job alone.
  std::optional<ServerOptions> server;
};

// Throws CommandLineError and HelpRequest, and invalid_argument for mistakes that the parser does not
// see. `jobs` outlives the help.
JobFlags parse_job_flags(CommandLine& line, std::vector<std::string> arguments, const JobTable& jobs);

}  // namespace actorflow
