#include "apps/launch/run/host_discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "apps/launch/hosts.h"
#include "apps/launch/keeper/machine_probe.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::chrono::seconds pause_between_runs{1}, run_limit{10}, say_wait_after{2};
constexpr std::chrono::milliseconds discovery_look_interval{20};
constexpr std::size_t most_printed_bytes = 1 << 20;

}  // namespace

HostDiscovery::HostDiscovery(const std::string& script, Say say)
    : script_(script), path_(find_program(script)), say_(std::move(say)) {}

HostDiscovery::~HostDiscovery() {
  if (id_ <= 0) return;
  kill(-id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

void HostDiscovery::begin() {
  Pipe pipe = make_pipe();
  set_nonblocking(pipe.reading);
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.path = path_;
  request.arguments = {script_};
  request.environment = own_environment();
  request.descriptors = {{nothing.get(), STDIN_FILENO}, {pipe.writing.get(), STDOUT_FILENO}};
  request.dies_with_us = true;
  printed_.clear();
  mistake_.clear();
  began_ = Clock::now();
  id_ = spawn(request);
  output_ = std::move(pipe.reading);
}

void HostDiscovery::read_output() {
  while (output_ && is_readable(output_) && printed_.size() <= most_printed_bytes)
    printed_ += read_available(output_, keeper_read_bytes);
  if (printed_.size() > most_printed_bytes && mistake_.empty())
    mistake_ = fmt::format("it prints more than {} bytes", most_printed_bytes);
}

void HostDiscovery::limit_run() {
  if (mistake_.empty() && Clock::now() >= began_ + run_limit)
    mistake_ = fmt::format("it takes longer than {} s", run_limit.count());
  if (!mistake_.empty()) kill(-id_, SIGKILL);
}

std::optional<int> HostDiscovery::end_of_run() {
  read_output();
  siginfo_t ended{};
  const bool is_ours = waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_ours && ended.si_pid == 0) {
    limit_run();
    return std::nullopt;
  }
  read_output();
  if (is_ours) kill(-id_, SIGKILL);  // processes it has left; its number is not reused before waitpid()
  int status = 0;
  if (waitpid(id_, &status, 0) != id_ && mistake_.empty())
    mistake_ = fmt::format("how it ended cannot be seen: {}", std::strerror(errno));
  output_ = FileDescriptor();
  id_ = -1;
  next_run_ = Clock::now() + pause_between_runs;
  return status;
}

std::vector<LaunchHost> HostDiscovery::hosts_of_run(int status) const {
  const auto fail = [this](const std::string& why) {
    throw Error(Code::failed_precondition, fmt::format("--host_discovery {}: {}", script_, why));
  };
  if (!mistake_.empty()) fail(mistake_);
  if (WIFSIGNALED(status)) fail(fmt::format("it was killed by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) fail(fmt::format("it ended with status {}", WEXITSTATUS(status)));
  auto hosts = parse_hosts_file("the output of --host_discovery " + script_, printed_);
  if (hosts.empty()) fail("it printed no host; expected lines such as node1:2");
  return hosts;
}

std::vector<LaunchHost> HostDiscovery::first(const FileDescriptor& interrupt) {
  begin();
  bool is_said = false;
  std::optional<int> status;
  while (!(status = end_of_run())) {
    pollfd wait{interrupt.get(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(discovery_look_interval.count())) > 0) return {};
    if (!is_said && Clock::now() >= began_ + say_wait_after) {
      is_said = true;
      say_(fmt::format("waiting for --host_discovery {} to print the hosts", script_));
    }
  }
  return hosts_ = hosts_of_run(*status);
}

std::optional<std::vector<LaunchHost>> HostDiscovery::look() {
  try {
    if (id_ <= 0) {
      if (Clock::now() >= next_run_) begin();
      return std::nullopt;
    }
    const auto status = end_of_run();
    if (!status) return std::nullopt;
    auto hosts = hosts_of_run(*status);
    last_failure_.clear();
    if (hosts == hosts_) return std::nullopt;
    return hosts_ = std::move(hosts);
  } catch (const Error& error) {
    next_run_ = Clock::now() + pause_between_runs;
    if (std::exchange(last_failure_, error.what()) != error.what())
      say_(std::string(error.what()) + "; the hosts stay as they are");
    return std::nullopt;
  }
}

HostDiscovery::Clock::time_point HostDiscovery::next_look() const {
  return id_ > 0 ? Clock::now() + discovery_look_interval : next_run_;
}

}  // namespace actorflow
