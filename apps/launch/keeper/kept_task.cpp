#include "apps/launch/keeper/kept_task.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <tuple>

#include "apps/launch/step_report.h"
#include "dataflow/values/error.h"
#include "schema/environment/elastic_link.h"

namespace actorflow {
namespace {

constexpr int most_parts_of_rest = 256;
constexpr int report_number = 3, elastic_number = 4;

ino_t inode_of(const FileDescriptor& descriptor) {
  struct stat file {};
  fstat(descriptor.get(), &file);
  return file.st_ino;
}

// Both ends of a connection.
std::pair<FileDescriptor, FileDescriptor> make_sockets() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0)
    throw Error(Code::failed_precondition,
                std::string("a socket for a task cannot be made: ") + std::strerror(errno));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void add_number(SpawnRequest& request, const char* name, std::uint64_t value) {
  set_variable(request.environment, std::string(name) + "=" + std::to_string(value));
}

}  // namespace

KeptTask::KeptTask(SpawnRequest request, int port, bool elastic) : port_(port) {
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::array<Pipe, 3> pipes{make_pipe(), make_pipe(), make_pipe()};
  for (auto& pipe : pipes) set_nonblocking(pipe.reading);
  request.descriptors = {{nothing.get(), STDIN_FILENO},
                         {pipes[0].writing.get(), STDOUT_FILENO},
                         {pipes[1].writing.get(), STDERR_FILENO},
                         {pipes[2].writing.get(), report_number}};
  request.dies_with_us = true;
  add_number(request, step_report_variable, report_number);
  add_number(request, step_pipe_variable, inode_of(pipes[2].writing));
  FileDescriptor its_socket;
  if (elastic) {
    std::tie(socket_, its_socket) = make_sockets();
    set_nonblocking(socket_);
    request.descriptors.emplace_back(its_socket.get(), elastic_number);
    add_number(request, elastic_descriptor_variable, elastic_number);
    add_number(request, elastic_socket_variable, inode_of(its_socket));
  }
  id_ = spawn(request);
  streams_ = {std::move(pipes[0].reading), std::move(pipes[1].reading)};
  report_ = std::move(pipes[2].reading);
}

KeptTask::~KeptTask() {
  if (id_ < 0) return;
  signal_group(SIGKILL);
  waitpid(id_, nullptr, 0);
}

void KeptTask::signal_group(int signal) const {
  if (id_ > 0) kill(-id_, signal);
}

void KeptTask::add_to(std::vector<pollfd>& list) const {
  for (const auto* pipe : {&streams_[0], &streams_[1], &report_})
    if (*pipe) list.push_back({pipe->get(), POLLIN, 0});
  if (!socket_) return;
  const int events = untold_.empty() ? POLLIN : POLLIN | POLLOUT;
  list.push_back({socket_.get(), static_cast<short>(events), 0});
}

void KeptTask::take_output(const Sink& sink) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!streams_[i]) continue;
    const std::string bytes = read_available(streams_[i], keeper_read_bytes);
    if (i == 0 && !reports_steps_ && bytes.find('\n') != bytes.npos) alive_ = true;
    if (!bytes.empty()) sink(static_cast<int>(i) + 1, bytes);
  }
  take_report();
}

void KeptTask::take_report() {
  if (!report_) return;
  for (const char mark : read_available(report_, keeper_read_bytes)) {
    // Signs of life from before the task announced steps do not count.
    if (mark == will_step_mark && !reports_steps_) alive_ = false;
    reports_steps_ = reports_steps_ || mark == will_step_mark;
    alive_ = alive_ || mark == step_mark;
  }
}

std::string KeptTask::take_words() {
  hand_on();
  return socket_ ? read_available(socket_, keeper_read_bytes) : std::string();
}

void KeptTask::tell(const std::string& bytes) {
  if (socket_) untold_ += bytes;
  hand_on();
}

// Sends what fits into the socket: the description of a large world may not. A task that never reads
// does not answer, and the launcher sees that.
void KeptTask::hand_on() {
  while (socket_ && !untold_.empty()) {
    const ssize_t size = send(socket_.get(), untold_.data(), untold_.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) untold_.clear();  // the task has closed its end
    if (size < 0) return;
    untold_.erase(0, static_cast<std::size_t>(size));
  }
}

void KeptTask::finish(const Sink& sink) {
  signal_group(SIGKILL);
  // Bounded: a process that has left the group may go on writing.
  bool more = true;
  for (int part = 0; more && part < most_parts_of_rest; ++part) {
    more = false;
    take_output([&](int stream, const std::string& bytes) {
      more = true;
      sink(stream, bytes);
    });
  }
  for (auto& stream : streams_) stream = FileDescriptor();
}

}  // namespace actorflow
