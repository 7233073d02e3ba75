#include "apps/rehearsal/real_network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Below those that the system gives to connections: what a task leaves for a while nobody else gets.
constexpr int first_port = 2222;

// Whether a port could be listened on.
bool is_free(std::uint32_t ip, int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const int on = 1;  // a port whose last connection is hardly over is free
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ip);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool free = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return free;
}

// An address of loopback on which nobody else has these ports: 127.64.0.0 to 127.127.255.255.
std::uint32_t free_loopback(int ports) {
  constexpr std::uint32_t first = 0x7F40'0000, mask = 0x003F'FFFF;
  static std::uint32_t next = static_cast<std::uint32_t>(getpid()) << 6;
  constexpr int attempts = 64;
  for (int i = 0; i < attempts; ++i) {
    const std::uint32_t ip = first | (next++ & mask);
    int port = first_port;
    while (port < first_port + ports && is_free(ip, port)) ++port;
    if (port == first_port + ports) return ip;
  }
  throw Error(Code::failed_precondition,
              fmt::format("no address of loopback has the ports {} to {} free", first_port,
                          first_port + ports - 1));
}

}  // namespace

RealNetwork::RealNetwork(std::vector<TaskName> tasks, bool machines) : tasks_(std::move(tasks)) {
  const int count = static_cast<int>(tasks_.size());
  if (!machines) {
    loopback_ = free_loopback(count);
    return;
  }
  lan_ = std::make_unique<Lan>(count);
  for (const auto& task : tasks_)
    lan_->set_name(fmt::format("{}-{}", task.job, task.index), machine(task));
}

bool RealNetwork::is_of_network(FaultKind kind) {
  switch (kind) {
    case FaultKind::partition:
    case FaultKind::delay:
    case FaultKind::lossy:
    case FaultKind::duplicate:
    case FaultKind::late:
      return true;
    default:
      return false;
  }
}

RealTask::Port RealNetwork::port(std::size_t task) const {
  if (lan_) return {0, first_port};
  return {loopback_, first_port + static_cast<int>(task)};
}

std::string RealNetwork::address(std::size_t task) const {
  const auto& [ip, number] = port(task);
  if (lan_) return fmt::format("{}-{}:{}", tasks_[task].job, tasks_[task].index, number);
  return fmt::format("{}.{}.{}.{}:{}", ip >> 24, ip >> 16 & 0xFF, ip >> 8 & 0xFF, ip & 0xFF, number);
}

std::vector<std::string> RealNetwork::on(std::size_t task, std::vector<std::string> command) const {
  return lan_ ? lan_->on(static_cast<int>(task), std::move(command)) : command;
}

std::vector<std::string> RealNetwork::flags() const {
  return lan_ ? std::vector<std::string>{"--insecure"} : std::vector<std::string>{};
}

int RealNetwork::machine(const TaskName& task) const {
  return static_cast<int>(std::ranges::find(tasks_, task) - tasks_.begin());
}

void RealNetwork::apply(const FaultPlan& lasting) {
  if (!lan_) return;
  const auto lasts = [&lasting](FaultKind kind, const TaskName& task) {
    return std::ranges::any_of(
        lasting, [&](const Fault& fault) { return fault.kind == kind && fault.task == task; });
  };
  std::vector<std::pair<int, int>> separated;
  for (const auto& fault : lasting)
    if (fault.kind == FaultKind::partition)
      separated.emplace_back(machine(fault.task), machine(fault.other));
  lan_->separate(separated);
  for (const auto& task : tasks_)
    lan_->set_wire(machine(task),
                   {.delay = lasts(FaultKind::delay, task) ? FaultSizes::delay : FaultSizes::delay * 0});
  lan_->set_common_wire({.loss = lasts(FaultKind::lossy, {}) ? FaultSizes::loss : 0,
                         .duplication = lasts(FaultKind::duplicate, {}) ? FaultSizes::duplication : 0,
                         .late = lasts(FaultKind::late, {}) ? FaultSizes::late : 0});
}

}  // namespace actorflow
