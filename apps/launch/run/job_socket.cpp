#include "apps/launch/run/job_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "apps/launch/own_folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// How many bytes wait for a command that does not read; with more it gets no lines until it reads on.
constexpr std::size_t most_waiting_bytes = 8 << 20;
constexpr std::chrono::seconds last_words_limit{1};

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

}  // namespace

std::string job_socket_path(const std::string& job) { return own_folder() + "/" + job; }

FileDescriptor connect_to_launcher(const std::string& path) {
  FileDescriptor socket = new_socket();
  const sockaddr_un address = address_of_path(path);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  if (errno == ECONNREFUSED) unlink(path.c_str());
  return FileDescriptor();
}

JobSocket::JobSocket() : job_(std::to_string(getpid())), path_(job_socket_path(job_)) {
  socket_ = new_socket();
  // It gets its name when it listens: whoever finds one that does not takes it for a dead launcher's.
  const std::string unnamed = path_ + "~";
  unlink(unnamed.c_str());  // of an earlier process with our number
  const sockaddr_un address = address_of_path(unnamed);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket_.get(), 16) != 0 || rename(unnamed.c_str(), path_.c_str()) != 0)
    throw Error(Code::failed_precondition,
                fmt::format("the socket '{}' cannot be made: {}", path_, std::strerror(errno)));
}

JobSocket::~JobSocket() { unlink(path_.c_str()); }

void JobSocket::add_to(std::vector<pollfd>& list) const {
  list.push_back({socket_.get(), POLLIN, 0});
  for (const auto& client : clients_) {
    const int events = client.outbox.empty() ? POLLIN : POLLIN | POLLOUT;
    list.push_back({client.socket.get(), static_cast<short>(events), 0});
  }
}

void JobSocket::accept() {
  while (true) {
    FileDescriptor socket(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    clients_.emplace_back().socket = std::move(socket);
  }
}

bool JobSocket::stop_is_wanted() {
  accept();
  bool wanted = false;
  for (auto& client : clients_) {
    wanted |= hear(client);
    flush(client);
  }
  std::erase_if(clients_, [](const Client& client) { return !client.socket; });
  return wanted;
}

bool JobSocket::hear(Client& client) {
  client.frames.add(read_available(client.socket, keeper_read_bytes));
  bool stop = false;
  try {
    while (const auto frame = client.frames.next()) {
      stop |= (*frame)[0] == "stop";
      if ((*frame)[0] == "attach" && !std::exchange(client.follows, true)) tell(client, {"attached"});
    }
  } catch (const Error&) {  // not one of our commands
    client.socket = FileDescriptor();
  }
  return stop;
}

void JobSocket::show(int stream, std::string_view who, int colour, std::string_view line) {
  for (auto& client : clients_) {
    if (!client.follows) continue;
    if (client.outbox.size() > most_waiting_bytes) {
      ++client.left_out;
      continue;
    }
    if (client.left_out > 0)
      tell(client, {"left_out", std::to_string(std::exchange(client.left_out, 0))});
    tell(client,
         {"line", std::to_string(stream), std::to_string(colour), std::string(who), std::string(line)});
  }
}

void JobSocket::end(int status) {
  for (auto& client : clients_) {
    if (!client.follows) continue;
    if (client.left_out > 0) tell(client, {"left_out", std::to_string(client.left_out)});
    tell(client, {"ended", std::to_string(status)});
  }
  const auto end = std::chrono::steady_clock::now() + last_words_limit;
  const auto has_rest = [](const Client& client) { return client.socket && !client.outbox.empty(); };
  while (std::ranges::any_of(clients_, has_rest) && std::chrono::steady_clock::now() < end) {
    std::vector<pollfd> list;
    for (const auto& client : clients_)
      if (has_rest(client)) list.push_back({client.socket.get(), POLLOUT, 0});
    poll(list.data(), list.size(), 100);
    for (auto& client : clients_) flush(client);
  }
}

void JobSocket::tell(Client& client, const Frame& frame) {
  client.outbox += encode(frame);
  flush(client);
}

void JobSocket::flush(Client& client) {
  while (client.socket && !client.outbox.empty()) {
    const ssize_t size =
        send(client.socket.get(), client.outbox.data(), client.outbox.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) client.socket = FileDescriptor();
    if (size < 0) return;
    client.outbox.erase(0, static_cast<std::size_t>(size));
  }
}

}  // namespace actorflow
