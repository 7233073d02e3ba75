#include "apps/launch/elastic/host_book.h"

#include <algorithm>
#include <utility>

namespace actorflow {
namespace {

constexpr HostBook::Time until_it_is_dropped = HostBook::Time::max();

HostBook::Pause time_since(HostBook::Time begin, HostBook::Time now) {
  return std::chrono::floor<HostBook::Pause>(now - begin);
}

}  // namespace

// A host that is dropped keeps its connection, and nothing of what has gone wrong there.
void HostBook::listed(std::vector<LaunchHost> hosts) {
  list_ = std::move(hosts);
  for (auto& [name, host] : hosts_) host.slots = 0;
  for (const auto& each : list_) hosts_.try_emplace(each.name, rules_).first->second.slots = each.slots;
  for (auto& [name, host] : hosts_) {
    if (host.slots > 0) continue;
    Host forgiving(rules_);
    forgiving.stage = host.stage;
    forgiving.tasks = std::move(host.tasks);
    forgiving.answers_by = host.answers_by;
    host = std::move(forgiving);
  }
}

void HostBook::answered(const std::string& name, Time now) {
  Host& host = hosts_.at(name);
  host.stage = Stage::ready;
  host.to_come = 0;  // decide() starts them
  host.well_since = now;
}

std::optional<HostBook::Pause> HostBook::failed(const std::string& name, Time now) {
  Host& host = hosts_.at(name);
  host.stage = Stage::away;
  host.tasks.clear();
  host.to_come = 0;
  if (host.slots == 0) return {};
  const Pause pause = host.after_failure.after(time_since(host.well_since, now));
  host.close_for(pause, now);
  return pause;
}

void HostBook::started(const std::string& host, int task) { hosts_.at(host).tasks.push_back(task); }

std::optional<HostBook::Closing> HostBook::ended(int task, Time now) {
  for (auto& [name, host] : hosts_)
    if (std::erase(host.tasks, task) > 0) return close(name, now);
  return {};
}

std::optional<HostBook::Closing> HostBook::close(const std::string& name, Time now) {
  Host& host = hosts_.at(name);
  if (now < host.closed_until || host.slots == 0) return {};
  if (!host.cooldown) {
    host.closed_until = until_it_is_dropped;
    return Closing{name};
  }
  const Pause pause = host.cooldown->after(time_since(host.well_since, now));
  host.close_for(pause, now);
  return Closing{name, pause};
}

std::vector<HostOrder> HostBook::decide(Time now) {
  give_up_silent(now);
  let_extra_tasks_leave();
  fill_free_slots(now);
  return std::exchange(orders_, {});
}

void HostBook::give_up_silent(Time now) {
  for (const auto& [name, host] : hosts_)
    if (host.stage == Stage::asked && now >= host.answers_by) order(HostOrder::Kind::give_up, name);
}

// The last ones of each host. Slots that were kept for tasks to come go first.
void HostBook::let_extra_tasks_leave() {
  for (auto& [name, host] : hosts_) {
    host.to_come = std::max(0, std::min(host.to_come, host.slots - static_cast<int>(host.tasks.size())));
    while (static_cast<int>(host.tasks.size()) > host.slots) {
      order(HostOrder::Kind::leave, name, host.tasks.back());
      host.tasks.pop_back();
    }
  }
}

void HostBook::fill_free_slots(Time now) {
  int wanted = rules_.most - num_tasks();
  for (const auto& each : list_) {
    const Host& host = hosts_.at(each.name);
    const int tasks = std::min(wanted, host.free_slots());
    if (tasks <= 0 || now < host.closed_until) continue;
    fill(each.name, tasks, now);
    wanted -= tasks;
  }
}

void HostBook::fill(const std::string& name, int tasks, Time now) {
  Host& host = hosts_.at(name);
  if (host.stage == Stage::ready) {
    for (int i = 0; i < tasks; ++i) order(HostOrder::Kind::start, name);
    return;
  }
  host.to_come += tasks;
  if (host.stage == Stage::asked) return;
  host.stage = Stage::asked;
  host.answers_by = now + rules_.answers_within;
  order(HostOrder::Kind::ask, name);
}

int HostBook::num_tasks() const {
  int tasks = 0;
  for (const auto& [name, host] : hosts_) tasks += static_cast<int>(host.tasks.size()) + host.to_come;
  return tasks;
}

HostBook::Time HostBook::next_look(Time now) const {
  Time next = Time::max();
  for (const auto& [name, host] : hosts_) {
    if (host.stage == Stage::asked) next = std::min(next, host.answers_by);
    if (host.closed_until > now) next = std::min(next, host.closed_until);
  }
  return next;
}

bool HostBook::has_slot(int task) const {
  return std::ranges::any_of(
      hosts_, [task](const auto& each) { return std::ranges::count(each.second.tasks, task) > 0; });
}

bool HostBook::is_in(const std::string& name, Stage stage) const {
  const auto found = hosts_.find(name);
  return found != hosts_.end() && found->second.stage == stage;
}

const LaunchHost& HostBook::listing(const std::string& host) const {
  return *std::ranges::find(list_, host, &LaunchHost::name);
}

}  // namespace actorflow
