#include "apps/launch/run/stop_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "apps/launch/own_folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

sockaddr_un address_of_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw invalid_argument(fmt::format("the path '{}' is too long for a socket", path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

FileDescriptor new_socket() {
  return FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// A connection to a launcher, which does not wait; none if it is gone, in which case its socket is
// removed.
FileDescriptor connect_to(const std::string& path) {
  FileDescriptor socket = new_socket();
  const sockaddr_un address = address_of_path(path);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  if (errno == ECONNREFUSED) unlink(path.c_str());
  return FileDescriptor();
}

// How long to wait without a word, and then: a launcher leaves within 9 s.
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

[[noreturn]] void throw_no_job(const std::string& job) {
  const auto running = running_jobs();
  throw Error(
      Code::not_found,
      fmt::format("no job '{}' runs here; {}", job,
                  running.empty() ? "none does" : fmt::format("running: {}", fmt::join(running, ", "))));
}

}  // namespace

StopSocket::StopSocket() : job_(std::to_string(getpid())), path_(own_folder() + "/" + job_) {
  socket_ = new_socket();
  unlink(path_.c_str());  // of an earlier process with our number
  const sockaddr_un address = address_of_path(path_);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket_.get(), 16) != 0)
    throw Error(Code::failed_precondition,
                fmt::format("the socket '{}' cannot be made: {}", path_, std::strerror(errno)));
}

StopSocket::~StopSocket() { unlink(path_.c_str()); }

void StopSocket::accept() {
  while (true) {
    FileDescriptor client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    clients_.push_back(std::move(client));
  }
}

bool StopSocket::stop_is_wanted() {
  accept();
  bool wanted = false;
  for (auto& client : clients_) wanted |= !read_available(client, 16).empty();
  std::erase_if(clients_, [](const FileDescriptor& client) { return !client; });
  return wanted;
}

std::vector<int> StopSocket::descriptors() const {
  std::vector<int> list{socket_.get()};
  for (const auto& client : clients_) list.push_back(client.get());
  return list;
}

std::vector<std::string> running_jobs() {
  std::vector<std::string> jobs;
  for (const auto& entry : fs::directory_iterator(own_folder()))
    if (connect_to(entry.path().string())) jobs.push_back(entry.path().filename().string());
  std::ranges::sort(jobs);
  return jobs;
}

void stop_job(const std::string& job) {
  const bool is_number = !job.empty() && job.find_first_not_of("0123456789") == job.npos;
  FileDescriptor socket;
  if (is_number) socket = connect_to(own_folder() + "/" + job);
  if (!socket) throw_no_job(job);
  write_all(socket, "stop");
  if (has_ended(socket, say_after)) return;
  fmt::print(stderr, "waiting for the launcher of job {} to end its tasks\n", job);
  if (has_ended(socket, stop_limit)) return;
  throw Error(
      Code::failed_precondition,
      fmt::format("job {} has not ended after {} s; its launcher may be stopped: kill -CONT {} lets "
                  "it go on, kill -9 {} ends it with its tasks",
                  job, (say_after + stop_limit).count(), job, job));
}

}  // namespace actorflow
