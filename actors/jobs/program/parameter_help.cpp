#include "actors/jobs/program/parameter_help.h"

#include <fmt/format.h>

#include <ranges>
#include <vector>

#include "actors/jobs/job.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

// A function that fails has been given nothing: what it has asked for so far is what is known.
std::vector<AskedParameter> parameters_of(const std::string& name, const JobFunction& function) {
  JobOptions options;
  options.name = name;  // its defaults may depend on it
  options.threads = 1;
  options.explain = true;
  Job job(options);
  job.state()->only_list_parameters();
  try {
    function(job);
  } catch (...) {
  }
  return job.state()->parameters().asked();
}

std::string line_of(const AskedParameter& parameter) {
  if (!parameter.otherwise) return fmt::format("  --{} (must be given)\n", parameter.name);
  return fmt::format("  --{} {}\n", parameter.name,
                     parameter.otherwise->empty() ? "\"\"" : *parameter.otherwise);
}

}  // namespace

std::string parameter_help(const JobTable& jobs, const std::string& name) {
  const auto job = jobs.find(name);
  if (job == jobs.end())
    return fmt::format("Jobs: {}. With a job's name, --help says its parameters, too.\n",
                       joined(std::views::keys(jobs), ", "));
  std::string lines;
  for (const auto& parameter : parameters_of(name, job->second)) lines += line_of(parameter);
  return fmt::format("Parameters of {}, given as --name value, with their defaults:\n{}", name, lines);
}

}  // namespace actorflow
