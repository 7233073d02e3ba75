// Elastic jobs: tasks that are lost while the others go on, and hosts that come and go.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

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
               .takes_part = [this](int task) { progress_.is_alive(task); },
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

Launcher::Clock::time_point Launcher::next_look() const {
  auto time = Clock::time_point::max();
  if (elastic_) time = elastic_->next_look();
  if (discovery_ && !elastic_->is_complete()) time = std::min(time, discovery_->next_look());
  for (const auto& host : hosts_)
    if (!host.is_ready && !host.is_lost) time = std::min(time, host.answers_by);
  return time;
}

// Acts on the book's decisions. Call after all frames that have come were taken.
void Launcher::follow_elastic() {
  if (!elastic_ || ending_) return;
  elastic_->follow_book();
  if (elastic_->has_begun()) progress_.go_on_without_failed();
  leave_out_silent_hosts();
  if (ending_ || !discovery_ || elastic_->is_complete()) return;
  if (auto hosts = discovery_->look()) {
    found_ = std::move(*hosts);
    slots_may_be_free_ = true;
  }
  if (std::exchange(slots_may_be_free_, false)) change_hosts(found_);
}

// Whether the other tasks can go on without the one that ended.
bool Launcher::is_no_failure(int task, const TaskEnd& end) {
  if (!elastic_) return false;
  if (end.status != 0) last_failure_ = end.status;
  std::string& holder = holders_[static_cast<std::size_t>(task)];
  const bool has_no_slot = holder.empty();  // it was told to leave; its status does not matter
  if (!elastic_->ended(task, end.status, has_no_slot) && !has_no_slot) {
    slots_may_be_free_ = true;  // of other hosts
    return false;
  }
  holder.clear();  // its slot is free
  return true;
}

void Launcher::lose_host(int host) {
  const std::string why =
      fmt::format("{} is lost: {}", keepers_.name(host), lost_words(keepers_.words(host)));
  HostState& state = hosts_[static_cast<std::size_t>(host)];
  if (state.is_lost) return;  // it was left out before
  if (!elastic_ || (state.is_ready && !elastic_->has_begun())) return end_job({1, why});
  console_.say(why);
  state.is_lost = true;
  if (!state.is_ready) return end_tasks_to_come(host, why);
  for (std::size_t i = 0; i < progress_.tasks().size(); ++i) {
    const int task = static_cast<int>(i);
    if (task_of(task).host != host || !progress_.is_running(task)) continue;
    std::string says;
    const TaskEnd end{.status = 1, .signal = 0, .why = "its host is lost"};
    progress_.ended(task, end, says);
    output_.finish(task);
    if (!is_no_failure(task, end) && elastic_->is_complete()) late_failure_ = {end.status, why};
  }
}

// Leaves out a host that came later and is not fit. Its keeper ends; the host is asked anew if the
// script names it again.
void Launcher::leave_out(int host, const std::string& why) {
  console_.say(fmt::format("{} is left out: {}", keepers_.name(host), why));
  hosts_[static_cast<std::size_t>(host)].is_lost = true;
  keepers_.send(host, {"end"});
  end_tasks_to_come(host, why);
}

// Those of a host that never became ready. Another one may have a slot for each.
void Launcher::end_tasks_to_come(int host, const std::string& why) {
  for (std::size_t i = 0; i < progress_.tasks().size(); ++i) {
    const int task = static_cast<int>(i);
    std::string says;
    if (task_of(task).host == host) progress_.ended(task, {1, 0, why}, says);
  }
  slots_may_be_free_ = true;
}

void Launcher::leave_out_silent_hosts() {
  for (int host = 0; host < keepers_.size(); ++host) {
    const HostState& state = hosts_[static_cast<std::size_t>(host)];
    if (state.is_ready || state.is_lost || Clock::now() < state.answers_by) continue;
    leave_out(host, silent_words(keepers_.words(host), prepare_limit));
    keepers_.kill(host);
  }
}

void Launcher::change_hosts(const std::vector<LaunchHost>& hosts) {
  std::vector<SlotHolder> held;
  for (std::size_t i = 0; i < holders_.size(); ++i)
    if (const int task = static_cast<int>(i); !holders_[i].empty())
      held.push_back({.task = task, .host = holders_[i], .runs = !progress_.has_ended(task)});
  const int most = options_.job.max_workers.value_or(options_.job.workers);
  const HostChanges changes = host_changes(held, hosts, most);
  for (const int task : changes.end) {
    holders_[static_cast<std::size_t>(task)].clear();
    if (!progress_.is_running(task)) continue;
    console_.say(fmt::format("{} has no slot on {} any more, so it leaves", task_of(task).label(),
                             host_name_of(task)));
    send_signal(task, SIGTERM);
  }
  for (const auto& name : changes.starts) {
    const LaunchHost& host = *std::ranges::find(hosts, name, &LaunchHost::name);
    try {
      start_on(host);
    } catch (const std::exception& error) {
      console_.say(fmt::format("no task starts on {}: {}", host.to_string(), error.what()));
    }
  }
}

void Launcher::start_on(const LaunchHost& host) {
  auto& hosts = options_.job.hosts;
  int index = 0;
  const auto is_here = [&](std::size_t at) {
    return hosts[at].name == host.name && !hosts_[at].is_lost;
  };
  while (index < static_cast<int>(hosts.size()) && !is_here(static_cast<std::size_t>(index))) ++index;
  if (index == static_cast<int>(hosts.size()) && !add_host(host)) return;
  LaunchedTask task{.name = {"worker", 0}, .host = index, .rank = {}, .gpus = {}};
  for (const auto& other : progress_.tasks())
    task.name.index = std::max(task.name.index, other.name.index + 1);
  output_.add_task(task);
  const int number = progress_.add(task);
  holders_.push_back(host.name);
  if (hosts_[static_cast<std::size_t>(index)].is_ready) start_later(number);
}

void Launcher::start_later(int task) {
  console_.say(fmt::format("{} starts on {}", task_of(task).label(), host_of(task)));
  progress_.started(task);
  elastic_->started(task);
  start(task);
}

// False, with a line on the console, for a host that the others would not reach.
bool Launcher::add_host(const LaunchHost& host) {
  const bool on_loopback = addresses_.hosts.front() == "127.0.0.1";
  if (on_loopback ? !is_this_machine(host) : host.name == "localhost") {
    console_.say(fmt::format(
        "{} is left out: the job's tasks talk by {}; let the script name this "
        "machine by its name on the network, and not as localhost, from the start, and say --secure",
        host.to_string(), on_loopback ? "loopback" : "the network"));
    return false;
  }
  keepers_.add(host, options_);
  options_.job.hosts.push_back(host);
  addresses_.hosts.push_back(on_loopback ? "127.0.0.1" : host.name);
  hosts_.push_back({.answers_by = Clock::now() + prepare_limit});
  return true;
}

// A host that has come later is asked what the others were asked before the job began.
void Launcher::take_from_new_host(int host, const Frame& frame) {
  const HostState& state = hosts_.at(static_cast<std::size_t>(host));
  if (state.is_ready || state.is_lost) return;
  std::string mistake;
  try {
    mistake = answer_new_host(host, frame);
  } catch (const std::exception& error) {
    mistake = error.what();
  }
  if (!mistake.empty()) leave_out(host, mistake);
}

// Returns why the host is not fit, "" if nothing speaks against it so far.
std::string Launcher::answer_new_host(int host, const Frame& frame) {
  if (frame[0] == "hello") {
    const std::string mistake = version_mistake(frame.at(1));
    if (mistake.empty()) keepers_.send(host, probe_question(0));
    return mistake;
  }
  if (frame[0] != "probed" && frame[0] != "secured") return {};
  if (!frame.at(1).empty()) return frame.at(1);
  if (frame[0] == "probed" && credentials_)
    keepers_.send(host, credentials_for(host));
  else
    start_waiting_tasks(host);
  return {};
}

void Launcher::start_waiting_tasks(int host) {
  hosts_[static_cast<std::size_t>(host)].is_ready = true;
  for (const auto& of_all : job_frames()) keepers_.send(host, of_all);
  for (int task = 0; task < static_cast<int>(progress_.tasks().size()); ++task)
    if (task_of(task).host == host && !holders_[static_cast<std::size_t>(task)].empty())
      start_later(task);
}

}  // namespace actorflow
