#include "apps/launch/run/host_discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "apps/launch/hosts.h"
#include "apps/launch/keeper/machine_probe.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::chrono::seconds pause_between_runs{1}, run_limit{10}, say_wait_after{2}, kill_limit{1};
constexpr std::chrono::milliseconds discovery_look_interval{20};
constexpr std::size_t most_printed_bytes = 1 << 20;

}  // namespace

HostDiscovery::HostDiscovery(const std::string& script, Say say)
    : script_(script), flag_("--host_discovery " + script), say_(std::move(say)) {
  find_script();
}

HostDiscovery::~HostDiscovery() { end_early(); }

std::string HostDiscovery::find_script() const {
  try {
    return find_program(script_);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}: {}; give a program that prints the hosts, a line for each", flag_,
                            error.what()));
  }
}

void HostDiscovery::begin() {
  SpawnRequest request;
  request.path = find_script();
  Pipe pipe = make_pipe();
  set_nonblocking(pipe.reading);
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  request.arguments = {script_};
  request.environment = own_environment();
  request.descriptors = {{nothing.get(), STDIN_FILENO}, {pipe.writing.get(), STDOUT_FILENO}};
  request.dies_with_us = true;
  printed_.clear();
  mistake_ = {};
  began_ = Clock::now();
  try {
    id_ = spawn(request);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", flag_, error.what()));
  }
  output_ = std::move(pipe.reading);
}

void HostDiscovery::end_early() {
  if (id_ <= 0) return;
  output_ = FileDescriptor();
  printed_.clear();
  kill_run();
  while (waitpid(id_, nullptr, WNOHANG) == 0) {
    if (Clock::now() >= *killed_at_ + kill_limit) return;
    std::this_thread::sleep_for(discovery_look_interval);
  }
  forget_run();
}

void HostDiscovery::kill_run() {
  kill(-id_, SIGKILL);
  if (!killed_at_) killed_at_ = Clock::now();
}

void HostDiscovery::forget_run() {
  output_ = FileDescriptor();
  id_ = -1;
  killed_at_.reset();
}

void HostDiscovery::read_output() {
  while (output_ && is_readable(output_) && printed_.size() <= most_printed_bytes)
    printed_ += read_available(output_, keeper_read_bytes);
  if (printed_.size() > most_printed_bytes && mistake_.ok())
    mistake_ = {Code::out_of_range, fmt::format("it prints more than {} bytes", most_printed_bytes)};
}

void HostDiscovery::limit_run() {
  if (mistake_.ok() && Clock::now() >= began_ + run_limit)
    mistake_ = {Code::cancelled,
                fmt::format("it takes longer than {} s, so it was killed", run_limit.count())};
  if (mistake_.ok() && !killed_at_) return;
  kill_run();
  if (Clock::now() >= *killed_at_ + kill_limit)
    throw Error(Code::deadline_exceeded,
                fmt::format("{}: it was killed and does not end, as where it waits for a disk", flag_));
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
  if (waitpid(id_, &status, 0) != id_ && mistake_.ok())
    mistake_ = {Code::unknown, fmt::format("how it ended cannot be seen: {}", std::strerror(errno))};
  forget_run();
  next_run_ = Clock::now() + pause_between_runs;
  return status;
}

std::vector<LaunchHost> HostDiscovery::hosts_of_run(int status) const {
  const auto fail = [this](const Status& why) {
    throw Error(why.code, fmt::format("{}: {}", flag_, why.message));
  };
  if (!mistake_.ok()) fail(mistake_);
  if (WIFSIGNALED(status))
    fail({Code::aborted, fmt::format("it was killed by signal {}", WTERMSIG(status))});
  if (WEXITSTATUS(status) != 0)
    fail({Code::aborted, fmt::format("it ended with status {}", WEXITSTATUS(status))});
  return parse_hosts_file("the output of " + flag_, printed_);
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
      say_(fmt::format("waiting for {} to print the hosts", flag_));
    }
  }
  return hosts_ = hosts_of_run(*status);
}

std::optional<std::vector<LaunchHost>> HostDiscovery::look() {
  try {
    return go_on();
  } catch (const Error& error) {
    try_later(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    end_early();  // a part of what it printed may be lost
    try_later(Code::resource_exhausted, "there is no memory to run the script of --host_discovery");
  }
  return std::nullopt;
}

std::optional<std::vector<LaunchHost>> HostDiscovery::go_on() {
  if (id_ <= 0) {
    if (Clock::now() >= next_run_) begin();
    return std::nullopt;
  }
  const auto status = end_of_run();
  if (!status) return std::nullopt;
  std::vector<LaunchHost> hosts = hosts_of_run(*status);
  if (last_failure_ != Code::ok) say_(flag_ + " prints hosts again");
  last_failure_ = Code::ok;
  if (hosts == hosts_) return std::nullopt;
  auto kept = hosts;  // before hosts_ changes: without memory for it, the next run brings the change
  hosts_.swap(kept);
  return hosts;
}

void HostDiscovery::try_later(Code code, std::string_view why) {
  next_run_ = Clock::now() + pause_between_runs;
  if (code == last_failure_) return;
  try {
    say_(fmt::format("{}; the hosts stay as they are", why));
    last_failure_ = code;
  } catch (const std::bad_alloc&) {  // the next failure is told
  }
}

HostDiscovery::Clock::time_point HostDiscovery::next_look() const {
  if (id_ <= 0) return next_run_;
  return Clock::now() + (killed_at_ ? pause_between_runs : discovery_look_interval);
}

}  // namespace actorflow
