#include "apps/launch/run/host_questions.h"

#include <fmt/format.h>

#include <filesystem>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string current_folder() {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  if (error)
    throw Error(Code::not_found,
                fmt::format("the folder of this command cannot be seen: {}; go to another "
                            "one, or give --work_dir",
                            error.message()));
  return folder;
}

// All names that tasks may get: each world of an elastic job numbers its members anew.
std::vector<TaskName> tasks_with_credentials(const JobSpec& job,
                                             const std::vector<LaunchedTask>& tasks) {
  std::vector<TaskName> names;
  if (job.is_elastic())
    for (int rank = 0; rank < job.max_workers.value_or(job.workers); ++rank)
      names.push_back({"worker", rank});
  else
    for (const auto& task : tasks)
      if (task.is_served()) names.push_back(task.name);
  return names;
}

std::optional<JobCredentials> credentials_of(const LaunchOptions& options, const JobSpec& asked,
                                             const std::vector<LaunchedTask>& tasks) {
  if (!options.secure) return {};
  return JobCredentials(options.credentials, tasks_with_credentials(asked, tasks));
}

}  // namespace

HostQuestions::HostQuestions(const LaunchOptions& options, const JobSpec& asked,
                             const std::vector<LaunchedTask>& tasks)
    : version_(options.version),
      first_port_(options.first_port),
      job_(asked),
      credentials_(credentials_of(options, asked, tasks)) {}

std::string HostQuestions::version_mistake(const Frame& hello) const {
  const std::string& version = hello.at(1);
  if (version == version_) return {};
  return fmt::format("actorflow {} is there, but {} is here; install the same version on both", version,
                     version_);
}

Frame HostQuestions::probe(int ports) const {
  return {"probe",
          job_.folders.work.empty() ? current_folder() : job_.folders.work,
          job_.folders.data,
          job_.folders.output,
          std::to_string(ports),
          std::to_string(first_port_),
          job_.command[0]};
}

Frame HostQuestions::credentials_for(const std::vector<LaunchedTask>& tasks_of_host) const {
  return credentials_->frame_for(tasks_with_credentials(job_, tasks_of_host));
}

std::vector<Frame> HostQuestions::job() const {
  std::vector<EnvironmentVariable> variables = job_.environment;
  if (!job_.folders.data.empty()) variables.push_back({"ACTORFLOW_DATA_DIR", job_.folders.data});
  if (!job_.folders.output.empty()) variables.push_back({"ACTORFLOW_OUTPUT_DIR", job_.folders.output});
  Frame of_all{"job", job_.restarts > 0 ? "1" : "0", std::to_string(variables.size())};
  for (const auto& variable : variables) of_all.push_back(variable.name + "=" + variable.value);
  of_all.insert(of_all.end(), job_.command.begin(), job_.command.end());
  if (!job_.is_elastic()) return {of_all};
  return {{"elastic"}, of_all};
}

}  // namespace actorflow
