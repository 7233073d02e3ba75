// The launcher's part in elastic jobs, whose tasks and hosts come and go.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "apps/launch/run/host_addresses.h"
#include "apps/launch/run/launcher.h"
#include "apps/launch/run/preparation.h"

namespace actorflow {

ElasticJob::Hands Launcher::worlds_hands() {
  return {.label = [this](int task) { return task_of(task).label(); },
          .address =
              [this](int task, std::uint16_t port) {
                return address_of(addresses_.hosts.at(static_cast<std::size_t>(task_of(task).host)),
                                  port);
              },
          .tell =
              [this](int task, const std::string& line) {
                keepers_.send(task_of(task).host, {"tell", std::to_string(task), line});
              },
          .takes_part = [this](int task) { progress_.is_alive(task); },
          .signal = [this](int task, int signal) { send_signal(task, signal); },
          .say = [this](const std::string& text) { console_.say(text); },
          .fail =
              [this](const std::string& why) {
                end_job({last_failure_ ? last_failure_ : 1, why});
              }};
}

ElasticHosts::Hands Launcher::hosts_hands() {
  return {.connect = [this](const LaunchHost& host) { return connect(host); },
          .start = [this](int host) { return start_new_task(host); },
          .tell_to_leave = [this](int task) { send_signal(task, SIGTERM); },
          .label = [this](int task) { return task_of(task).label(); },
          .say = [this](const std::string& text) { console_.say(text); }};
}

HostRules Launcher::host_rules(const JobSpec& job) {
  HostRules rules{.most = job.max_workers.value_or(job.workers), .answers_within = Preparation::limit};
  if (job.cooldown)
    rules.cooldown.emplace(std::chrono::seconds(job.cooldown->first_s),
                           std::chrono::seconds(job.cooldown->longest_s));
  return rules;
}

// Acts on the books' decisions. Call after all frames that have come were taken.
void Launcher::follow_elastic() {
  if (!elastic_ || ending_) return;
  elastic_->follow_book();
  if (elastic_->has_begun()) progress_.go_on_without_failed();
  if (hosts_ && !ending_ && !elastic_->is_complete()) hosts_->follow();
}

Launcher::Clock::time_point Launcher::next_look() const {
  auto time = Clock::time_point::max();
  if (elastic_) time = elastic_->next_look();
  if (hosts_ && !elastic_->is_complete()) time = std::min(time, hosts_->next_look());
  return time;
}

// Whether the other tasks can go on without the one that ended.
bool Launcher::is_no_failure(int task, const TaskEnd& end) {
  if (!elastic_) return false;
  if (end.status != 0) last_failure_ = end.status;
  const bool was_told_to_leave = hosts_ && !hosts_->has_slot(task);  // then its status does not matter
  return elastic_->ended(task, end.status, was_told_to_leave) || was_told_to_leave;
}

void Launcher::lose_tasks_of(int host, const std::string& why) {
  for (int task = 0; task < static_cast<int>(progress_.tasks().size()); ++task) {
    if (task_of(task).host != host || !progress_.is_running(task)) continue;
    std::string says;
    const TaskEnd end{.status = 1, .signal = 0, .why = "its host is lost"};
    progress_.ended(task, end, says);
    output_.finish(task);
    if (!is_no_failure(task, end) && elastic_->is_complete()) late_failure_ = {end.status, why};
  }
}

// A host that was there before keeps its number.
int Launcher::connect(const LaunchHost& host) {
  check_joins(addresses_, host);
  auto& hosts = options_.job.hosts;
  const auto at = std::ranges::find(hosts, host.name, &LaunchHost::name);
  const int number = static_cast<int>(at - hosts.begin());
  keepers_.connect(number, host, options_);
  if (at == hosts.end()) {
    hosts.push_back(host);
    add_host(addresses_, host);
  }
  return number;
}

int Launcher::start_new_task(int host) {
  LaunchedTask task{.name = {"worker", 0}, .host = host, .rank = {}, .gpus = {}};
  for (const auto& other : progress_.tasks())
    task.name.index = std::max(task.name.index, other.name.index + 1);
  output_.add_task(task);
  const int number = progress_.add(task);
  console_.say(fmt::format("{} starts on {}", task.label(), keepers_.name(host)));
  elastic_->started(number);
  start(number);
  return number;
}

}  // namespace actorflow
