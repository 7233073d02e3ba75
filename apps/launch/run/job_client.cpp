#include "apps/launch/run/job_client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include "actors/runtime/exit_status.h"
#include "apps/launch/own_folder.h"
#include "apps/launch/run/console.h"
#include "apps/launch/run/job_socket.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

// How long to wait silently, and then after a line that says so: a launcher leaves within 9 s.
constexpr std::chrono::seconds say_after{2}, stop_limit{18};

// Whether the other end closes the connection within the time.
bool has_ended(FileDescriptor& socket, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (socket && std::chrono::steady_clock::now() < end) {
    pollfd wait{socket.get(), POLLIN, 0};
    if (poll(&wait, 1, 100) > 0) read_available(socket, 16);
  }
  return !socket;
}

bool is_number(const std::string& job) {
  return !job.empty() && job.find_first_not_of("0123456789") == job.npos;
}

FileDescriptor launcher_of(const std::string& job) {
  FileDescriptor socket;
  if (is_number(job)) socket = connect_to_launcher(job_socket_path(job));
  if (socket) return socket;
  const auto running = running_jobs();
  throw Error(
      Code::not_found,
      fmt::format("no job '{}' runs here; {}", job,
                  running.empty() ? "none does" : fmt::format("running: {}", fmt::join(running, ", "))));
}

FileDescriptor watch_ctrl_c() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // the console sees EPIPE instead
  return FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Follower {
 public:
  explicit Follower(const std::string& job) : job_(job), socket_(launcher_of(job)) {
    write_all(socket_, encode({"attach"}));
  }

  int run() {
    while (!status_) {
      std::array<pollfd, 2> list{{{interrupts_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}}};
      poll(list.data(), list.size(), -1);
      if (is_readable(interrupts_)) return detach();
      frames_.add(read_available(socket_, keeper_read_bytes));
      while (const auto frame = frames_.next()) take(*frame);
      if (console_.failure() == EPIPE) return 128 + SIGPIPE;
      if (console_.failure() != 0)
        throw Error(Code::disk_error,
                    fmt::format("the output cannot be written: {}", std::strerror(console_.failure())));
      if (!socket_ && !status_) throw Error(Code::unavailable, lost());
    }
    return *status_;
  }

 private:
  void take(const Frame& frame) {
    if (frame[0] == "attached")
      fmt::print(stderr, "attached to job {}; Ctrl-C leaves it, and it goes on\n", job_);
    else if (frame[0] == "line")
      console_.print(std::stoi(frame.at(1)), frame.at(3), std::stoi(frame.at(2)), frame.at(4));
    else if (frame[0] == "left_out")
      fmt::print(stderr, "{} lines were left out: whoever reads this is slower than the job\n",
                 frame.at(1));
    else if (frame[0] == "ended")
      status_ = std::stoi(frame.at(1));
  }

  int detach() const {
    fmt::print(stderr, "job {} goes on; to end it: actorflow stop {}\n", job_, job_);
    return interrupted_run;
  }

  std::string lost() const {
    return fmt::format(
        "the launcher of job {} is gone without a word: it was killed, and its tasks end "
        "with it, or this command has read too slowly to hear its end",
        job_);
  }

  const std::string job_;
  const FileDescriptor interrupts_ = watch_ctrl_c();
  FileDescriptor socket_;
  FrameReader frames_{false};
  // A slow reader of this command does not delay its interrupt.
  Console console_{[this] {
    if (is_readable(interrupts_)) console_.hurry();
  }};
  std::optional<int> status_;
};

}  // namespace

std::vector<std::string> running_jobs() {
  std::vector<std::string> jobs;
  for (const auto& entry : fs::directory_iterator(own_folder())) {
    const std::string name = entry.path().filename().string();
    if (is_number(name) && connect_to_launcher(entry.path().string())) jobs.push_back(name);
  }
  std::ranges::sort(jobs);
  return jobs;
}

void stop_job(const std::string& job) {
  FileDescriptor socket = launcher_of(job);
  write_all(socket, encode({"stop"}));
  if (has_ended(socket, say_after)) return;
  fmt::print(stderr, "waiting for the launcher of job {} to end its tasks\n", job);
  if (has_ended(socket, stop_limit)) return;
  throw Error(
      Code::failed_precondition,
      fmt::format("job {} has not ended after {} s; its launcher may be stopped: kill -CONT {} lets "
                  "it go on, kill -9 {} ends it with its tasks",
                  job, (say_after + stop_limit).count(), job, job));
}

int follow_job(const std::string& job) { return Follower(job).run(); }

}  // namespace actorflow
