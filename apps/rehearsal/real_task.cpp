#include "apps/rehearsal/real_task.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <deque>
#include <fstream>
#include <utility>

#include "apps/cli/program.h"
#include "apps/scenario/scenario.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Whether someone listens there in the network of the process. A line of the table is
// "sl: address:port address:port state ...", in hexadecimal, the address in the order of the network.
bool listens_in_network_of(pid_t process, const RealTask::Port& port) {
  std::ifstream table(fmt::format("/proc/{}/net/tcp", process));
  const std::string at = fmt::format(":{:04X}", port.number);
  const std::string from = port.ip == 0 ? "" : fmt::format("{:08X}", htonl(port.ip));
  const std::string listening = "0A";
  std::string number, local, remote, state;
  while (table >> number >> local >> remote >> state) {
    if (state == listening && local.starts_with(from) && local.ends_with(at)) return true;
    std::getline(table, number);
  }
  return false;
}

std::string describe_end(int status) {
  constexpr int not_started = 127, by_signal = 128;
  if (status == not_started) return "could not be started";
  return status > by_signal && status != interrupted_run
             ? fmt::format("was ended by signal {}", status - by_signal)
             : fmt::format("ended with status {}", status);
}

}  // namespace

RealTask::RealTask(TaskName name, Port port, std::vector<std::string> command, std::string log)
    : name_(std::move(name)), port_(port), command_(std::move(command)), log_(std::move(log)) {}

bool RealTask::is_listening() const { return process_ && listens_in_network_of(process_->id(), port_); }

std::string RealTask::describe() const {
  const auto state = [this] {
    switch (state_) {
      case State::none:
        return "has not been started";
      case State::running:
        return held_ ? "is stopped" : "is still running";
      case State::killed:
        return "was killed and not restarted";
      case State::failed:
        return "has failed and is about to be restarted";
      case State::done:
        return "has ended";
    }
    return "";
  };
  return fmt::format("{} {}, in life {}", name_.to_string(), state(), lives_);
}

std::string RealTask::last_lines() const {
  constexpr std::size_t count = 5;
  std::deque<std::string> lines;
  std::ifstream log(log_);
  for (std::string line; std::getline(log, line); lines.push_back(std::move(line)))
    if (lines.size() == count) lines.pop_front();
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void RealTask::start() {
  if (is_running()) return;
  std::ofstream(log_, std::ios::app) << "--- life " << ++lives_ << "\n";
  process_.emplace(command_, log_);
  state_ = State::running;
  if (held_) process_->send_signal(SIGSTOP);
}

void RealTask::kill() {
  if (!is_running()) return;
  process_.reset();
  state_ = State::killed;
}

void RealTask::hold(bool held) {
  if (held == held_) return;
  held_ = held;
  if (process_) process_->send_signal(held ? SIGSTOP : SIGCONT);
}

void RealTask::look(RealTime::time_point now) {
  if (has_failed() && now >= restart_at_) start();
  const auto status = process_ ? process_->status() : std::nullopt;
  if (!status) return;
  process_.reset();
  if (*status != success && *status != failed_run && *status != lost_task)
    throw Error(Code::internal,
                fmt::format("{} {}, which none of the faults explains; its last lines are\n{}",
                            name_.to_string(), describe_end(*status), last_lines()));
  state_ = *status == success ? State::done : State::failed;
  restart_at_ = now + restart_pause;
}

}  // namespace actorflow
