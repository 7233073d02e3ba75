// What a job asks of the keeper of each host, and tells it before its first task.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/launch/job_spec.h"
#include "apps/launch/keeper/frames.h"
#include "apps/launch/run/job_credentials.h"
#include "apps/launch/run/launch_options.h"
#include "apps/launch/task_layout.h"

namespace actorflow {

// The questions come in this order, each after the answer to the one before: a keeper says "hello" by
// itself, and is then asked by probe() and, if the job has credentials, credentials_for(). Thread-safe.
class HostQuestions {
 public:
  // `asked`: the job as it was asked for; `tasks`: those that it begins with. Makes the job's
  // credentials if it is secure; throws what JobCredentials does.
  HostQuestions(const LaunchOptions& options, const JobSpec& asked,
                const std::vector<LaunchedTask>& tasks);

  // Of a hello; "" if the version of the keeper is ours.
  std::string version_mistake(const Frame& hello) const;
  // Looks for folders, the program and so many free ports. Throws not_found if this command's folder,
  // where tasks start, is gone.
  Frame probe(int ports) const;
  bool has_credentials() const { return credentials_.has_value(); }
  // REQUIRES: has_credentials().
  Frame credentials_for(const std::vector<LaunchedTask>& tasks_of_host) const;
  // What all tasks have; no answer comes.
  std::vector<Frame> job() const;

 private:
  const std::string version_;
  const int first_port_;
  const JobSpec job_;
  const std::optional<JobCredentials> credentials_;
};

}  // namespace actorflow
