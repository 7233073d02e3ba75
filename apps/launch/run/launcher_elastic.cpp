// Elastic jobs: tasks that are lost while the others go on, and hosts that come and go.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "apps/launch/elastic/host_changes.h"
#include "apps/launch/run/job_lines.h"
#include "apps/launch/run/launcher.h"
#include "dataflow/values/error.h"

namespace actorflow {

void Launcher::begin_elastic(const JobSpec& job) {
  elastic_.emplace(
      job, ElasticJob::Hands{
               .label = [this](int task) { return task_of(task).label(); },
               .address =
                   [this](int task, std::uint16_t port) {
                     return address_of(addresses_.hosts.at(static_cast<std::size_t>(task_of(task).host)),
                                       port);
                   },
               .tell =
                   [this](int task, const std::string& line) {
                     keepers_.send(task_of(task).host, {"tell", std::to_string(task), line});
                   },
               .signal = [this](int task, int signal) { send_signal(task, signal); },
               .say = [this](const std::string& text) { console_.say(text); },
               .fail =
                   [this](const std::string& why) {
                     end_job({last_failure_ ? last_failure_ : 1, why});
                   }});
  elastic_->more_may_come(discovery_ != nullptr);
  holders_.resize(progress_.tasks().size());
  for (std::size_t i = 0; i < holders_.size(); ++i) holders_[i] = host_name_of(static_cast<int>(i));
}

std::string Launcher::host_name_of(int task) const {
  const auto& hosts = options_.job.hosts;
  const auto host = static_cast<std::size_t>(task_of(task).host);
  return hosts.empty() ? "localhost" : hosts.at(host).name;
}

// After all that has come was taken.
void Launcher::follow_elastic() {
  if (!elastic_ || ending_) return;
  elastic_->follow_book();
  if (elastic_->has_begun()) progress_.go_on_without_failed();
  // Who has met the others has begun: a program need not report its steps besides.
  for (const int member : elastic_->members()) progress_.is_alive(member);
  if (ending_ || !discovery_ || elastic_->is_complete()) return;
  if (const auto hosts = discovery_->look()) change_hosts(*hosts);
}

// Nothing follows from it for the job if the others can go on.
bool Launcher::is_no_failure(int task, const TaskEnd& end) {
  if (!elastic_) return false;
  if (end.status != 0) last_failure_ = end.status;
  if (!elastic_->ended(task, end.status)) return false;
  holders_[static_cast<std::size_t>(task)].clear();  // its slot is free
  return true;
}

void Launcher::lose_host(int host) {
  const std::string why =
      fmt::format("{} is lost: {}", keepers_.name(host), lost_words(keepers_.words(host)));
  const auto at = static_cast<std::size_t>(host);
  if (!elastic_ || (is_ready_[at] && !elastic_->has_begun())) return end_job({1, why});
  console_.say(why);
  is_lost_[at] = true;
  for (std::size_t i = 0; i < progress_.tasks().size(); ++i) {
    const int task = static_cast<int>(i);
    if (task_of(task).host != host || !progress_.is_running(task)) continue;
    std::string says;
    progress_.ended(task, {.status = 1, .signal = 0, .why = "its host is lost"}, says);
    last_failure_ = 1;
    elastic_->ended(task, 1);
  }
}

void Launcher::change_hosts(const std::vector<LaunchHost>& hosts) {
  std::vector<SlotHolder> held;
  for (std::size_t i = 0; i < holders_.size(); ++i)
    if (!holders_[i].empty()) held.push_back({static_cast<int>(i), holders_[i]});
  const int most = options_.job.max_workers.value_or(options_.job.workers);
  const HostChanges changes = host_changes(held, hosts, most);
  for (const int task : changes.end) {
    holders_[static_cast<std::size_t>(task)].clear();
    if (!progress_.is_running(task)) continue;
    console_.say(fmt::format("{} has no slot on {} any more, so it leaves", task_of(task).label(),
                             host_name_of(task)));
    send_signal(task, SIGTERM);
  }
  for (const auto& name : changes.starts) start_on(*std::ranges::find(hosts, name, &LaunchHost::name));
}

void Launcher::start_on(const LaunchHost& host) {
  auto& hosts = options_.job.hosts;
  int index = 0;
  const auto is_here = [&](std::size_t at) { return hosts[at].name == host.name && !is_lost_[at]; };
  while (index < static_cast<int>(hosts.size()) && !is_here(static_cast<std::size_t>(index))) ++index;
  if (index == static_cast<int>(hosts.size()) && !add_host(host)) return;
  LaunchedTask task{.name = {"worker", 0}, .host = index, .rank = {}, .gpus = {}};
  for (const auto& other : progress_.tasks())
    task.name.index = std::max(task.name.index, other.name.index + 1);
  const int number = progress_.add(task);
  output_.add_task(task);
  holders_.push_back(host.name);
  if (is_ready_[static_cast<std::size_t>(index)]) return start_later(number);
}

void Launcher::start_later(int task) {
  console_.say(fmt::format("{} starts on {}", task_of(task).label(), host_of(task)));
  elastic_->started(task);
  start(task);
}

// False, with a line, for one that the others would not reach.
bool Launcher::add_host(const LaunchHost& host) {
  const bool on_loopback = addresses_.hosts.front() == "127.0.0.1";
  if (on_loopback != is_this_machine(host)) {
    console_.say(
        fmt::format("{} is left out: the job's tasks talk by {}; let the script name this "
                    "machine by its name on the network, and not as localhost",
                    host.to_string(), on_loopback ? "loopback" : "the network"));
    return false;
  }
  keepers_.add(host, options_);
  options_.job.hosts.push_back(host);
  addresses_.hosts.push_back(on_loopback ? "127.0.0.1" : host.name);
  is_ready_.push_back(false);
  is_lost_.push_back(false);
  return true;
}

// A host that has come later is asked what the others were asked before the job began.
void Launcher::take_from_new_host(int host, const Frame& frame) {
  const auto at = static_cast<std::size_t>(host);
  if (is_ready_.at(at)) return;
  std::string mistake;
  if (frame[0] == "hello" && frame.at(1) == options_.version)
    return keepers_.send(host, probe_question(0));
  if (frame[0] == "hello")
    mistake = version_mistake(frame.at(1));
  else if (frame[0] == "probed")
    mistake = frame.at(1);
  else
    return;
  if (mistake.empty()) {
    is_ready_[at] = true;
    for (const auto& of_all : job_frames()) keepers_.send(host, of_all);
  } else {
    console_.say(fmt::format("{} is left out: {}", keepers_.name(host), mistake));
  }
  for (std::size_t i = 0; i < progress_.tasks().size(); ++i) {
    const int task = static_cast<int>(i);
    if (task_of(task).host != host) continue;
    std::string says;
    mistake.empty() ? start_later(task) : void(progress_.ended(task, {1, 0, mistake}, says));
  }
}

}  // namespace actorflow
