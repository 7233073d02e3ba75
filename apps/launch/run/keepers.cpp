#include "apps/launch/run/keepers.h"

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::vector<LaunchHost> hosts_of(const JobSpec& job) {
  return job.hosts.empty() ? std::vector<LaunchHost>{{"localhost", "", job.workers}} : job.hosts;
}

int milliseconds_until(Keepers::Clock::time_point end) {
  if (end == Keepers::Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Keepers::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

}  // namespace

Keepers::Keepers(const LaunchOptions& options) : Keepers() {
  for (const auto& host : hosts_of(options.job)) connect(size(), host, options);
}

void Keepers::connect(int number, const LaunchHost& host, const LaunchOptions& options) {
  auto link = std::make_unique<KeeperLink>(host, options);
  const auto at = static_cast<std::size_t>(number);
  if (number < size()) {
    links_[at]->kill();
  } else {
    names_.resize(at + 1);
    lost_.resize(at + 1, true);
    links_.resize(at + 1);
  }
  links_[at] = std::move(link);
  names_[at] = host.to_string();
  lost_[at] = false;
}

Keepers::~Keepers() {
  for (int host = 0; host < size(); ++host)
    if (!lost_[static_cast<std::size_t>(host)]) link(host).kill();
  for (const auto& each : links_) each->close();
}

void Keepers::send_all(const Frame& frame) {
  for (const auto& each : links_) each->send(frame);
}

bool Keepers::all_have_left() const {
  return std::ranges::all_of(lost_, [](bool lost) { return lost; });
}

std::vector<Arrival> Keepers::wait(Clock::time_point end, std::vector<pollfd> others) {
  std::vector<pollfd> list = std::move(others);
  for (const auto& each : links_) each->add_to(list);
  poll(list.data(), list.size(), milliseconds_until(end));
  for (const auto& each : links_) each->move_bytes();
  return arrivals();
}

std::vector<Arrival> Keepers::arrivals() {
  std::vector<Arrival> list;
  for (int host = 0; host < size(); ++host) {
    const auto at = static_cast<std::size_t>(host);
    try {
      while (auto frame = link(host).next()) list.push_back({host, std::move(*frame)});
    } catch (const Error&) {
      link(host).kill();
    }
    if (link(host).is_open() || lost_[at]) continue;
    lost_[at] = true;
    list.push_back({host, {}});
  }
  return list;
}

}  // namespace actorflow
