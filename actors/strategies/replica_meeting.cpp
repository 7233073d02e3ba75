// How a replica meets the other tasks: their settings are compared, and the chief learns that it is
// there.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <vector>

#include "actors/strategies/meeting.h"
#include "actors/strategies/running_replica.h"
#include "dataflow/values/error.h"

namespace actorflow {

ReplicaSettings RunningReplica::settings() const {
  ReplicaSettings settings = program_.settings();
  const ReplicaSettings of_options = settings_of(options_);
  settings.insert(settings.end(), of_options.begin(), of_options.end());
  settings.emplace_back("replicas", std::to_string(task_.num_replicas()));
  if (!is_all_reduce(options_.strategy))
    settings.emplace_back("parameter servers", std::to_string(task_.cluster.num_tasks(options_.ps_job)));
  return settings;
}

// In each new session, before its first step, and before the tasks wait for each other. False if the
// chief's settings are not there yet.
bool RunningReplica::compare_settings() {
  if (!task_.is_chief()) return expect_settings_of(server_, task_.chief(), settings());
  if (!trains_) expect_servers_agree(server_, servers(), settings());
  return true;
}

// The tasks that are no replicas: parameter servers, and the others of each group.
std::vector<TaskName> RunningReplica::servers() const {
  const auto trainers = TaskConfig::make(server_.cluster(), server_.name()).replicas;
  std::vector<TaskName> serving = server_.cluster().all_tasks();
  std::erase_if(serving, [&](const TaskName& task) {
    const bool has_part = task.job == options_.ps_job || std::ranges::count(trainers, task) > 0;
    return !has_part || std::ranges::count(task_.replicas, task) > 0;
  });
  return serving;
}

// What tasks have set otherwise may be the cause, which the error does not know. Throws it then.
void RunningReplica::blame_settings(const Error& error) {
  if (!task_.is_chief()) {
    expect_settings_of(server_, task_.chief(), settings());
    return;
  }
  if (is_loss(error.code()) || !server_.failure().ok()) return;
  expect_same_settings(server_, task_.replicas, settings());
  throw_if_failed(server_);  // who was refused has told it before it left
}

// Makes a link to the chief, which sees it close if this replica is lost; a chief that is away just now
// does without.
void RunningReplica::greet_chief(MonitoredSession& session) {
  try {
    session.session().run(std::vector<Output>{}, {}, {greeting_}, {.timeout_ms = 1000});
  } catch (const Error& error) {
    if (!server_.stopping())
      spdlog::info("{} does not answer: {}", task_.chief().to_string(), error.what());
  }
}

}  // namespace actorflow
