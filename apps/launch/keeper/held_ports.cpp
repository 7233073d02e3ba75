#include "apps/launch/keeper/held_ports.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <sstream>

#include "dataflow/cluster/cluster_spec.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Below the range from which the kernel takes ports for connections (32768 on): such a port could be
// taken before a restarted task listens on it.
constexpr int lowest_port = 10'240, highest_port = 32'000;
constexpr int last_port = 65'535;
constexpr int most_tries = 1000;

// Listens at all addresses, IPv6 where the machine has it. No descriptor, and errno, if it cannot.
FileDescriptor listen_on(int port) {
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  const auto try_family = [](const auto& address, int family) {
    FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return socket;
    const int on = 1;
    const int off = 0;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    const bool bound =
        bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        listen(socket.get(), 16) == 0;
    const int error = errno;
    if (!bound) socket = FileDescriptor();
    errno = error;
    return socket;
  };
  FileDescriptor socket = try_family(six, AF_INET6);
  if (socket || errno == EADDRINUSE) return socket;
  return try_family(four, AF_INET);
}

// The port of a line of /proc/net/tcp if its socket listens.
std::optional<int> listened_port(const std::string& line) {
  std::istringstream words(line);
  std::string number, local, remote, state;
  words >> number >> local >> remote >> state;
  const auto colon = local.rfind(':');
  if (state != "0A" || colon == local.npos) return {};
  return static_cast<int>(std::strtol(local.c_str() + colon + 1, nullptr, 16));
}

std::string why_not_held(int port, int error) {
  const bool too_many = error == EMFILE || error == ENFILE;
  return fmt::format(
      "port {} cannot be listened on: {}; {}", port, std::strerror(error),
      too_many ? "raise the limit of open files, as with ulimit -n" : "give another --port, or none");
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// Begins a connection. errno is then 0 if it is made, EINPROGRESS if it may still come.
FileDescriptor begin_to_connect(const addrinfo& address) {
  FileDescriptor socket(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (socket && connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) errno = 0;
  return socket;
}

int error_of(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

// Tries all addresses of a machine at once.
std::string connect_mistake(const addrinfo* addresses, int timeout_ms) {
  std::vector<FileDescriptor> sockets;
  std::vector<pollfd> waits;
  int error = 0;
  for (const addrinfo* each = addresses; each; each = each->ai_next) {
    sockets.push_back(begin_to_connect(*each));
    if (errno == 0) return {};
    if (errno == EINPROGRESS)
      waits.push_back({sockets.back().get(), POLLOUT, 0});
    else
      error = errno;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!waits.empty()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (poll(waits.data(), waits.size(), std::max(0, static_cast<int>(left.count()))) <= 0)
      return fmt::format("no answer for {} s; a firewall may be between them", timeout_ms / 1000);
    for (const auto& wait : waits)
      if (wait.revents != 0 && (error = error_of(wait.fd)) == 0) return {};
    std::erase_if(waits, [](const pollfd& wait) { return wait.revents != 0; });
  }
  return std::strerror(error);
}

std::string why_unreachable(const std::string& address, int timeout_ms) {
  const HostPort parts = HostPort::parse(address);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(parts.host.c_str(), std::to_string(parts.port).c_str(), &hints, &list);
  if (error) return fmt::format("the name '{}' is not known there: {}", parts.host, gai_strerror(error));
  const std::unique_ptr<addrinfo, FreeAddresses> owner(list);
  return connect_mistake(list, timeout_ms);
}

}  // namespace

std::vector<int> HeldPorts::hold(int count, int first) {
  if (first + std::max(count, 1) - 1 > last_port)
    throw Error(
        Code::invalid_argument,
        fmt::format("{} ports from {} on are needed, but ports end at {}; give a --port of {} at most",
                    count, first, last_port, last_port + 1 - count));
  std::vector<int> held;
  std::mt19937 random{std::random_device{}()};
  std::uniform_int_distribution<int> any(lowest_port, highest_port);
  for (int attempt = 0; static_cast<int>(held.size()) < count; ++attempt) {
    const int port = first ? first + static_cast<int>(held.size()) : any(random);
    FileDescriptor socket;
    errno = EADDRINUSE;
    if (!ports_.contains(port)) socket = listen_on(port);
    if (socket) {
      ports_.emplace(port, std::move(socket));
      held.push_back(port);
    } else if (errno != EADDRINUSE) {
      throw Error(Code::failed_precondition, why_not_held(port, errno));
    } else if (first) {
      throw Error(Code::failed_precondition,
                  fmt::format("port {} is taken; give another --port, or none", port));
    } else if (attempt >= count + most_tries) {
      throw Error(Code::failed_precondition,
                  fmt::format("{} free ports are needed from {} to {}, found {}", count, lowest_port,
                              highest_port, held.size()));
    }
  }
  return held;
}

std::set<int> listened_ports() {
  std::set<int> ports;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream list(path);
    for (std::string line; std::getline(list, line);)
      if (const auto port = listened_port(line)) ports.insert(*port);
  }
  return ports;
}

std::vector<std::string> why_unreachable(const std::vector<std::string>& addresses, int timeout_ms) {
  std::vector<std::future<std::string>> tries;
  for (const auto& address : addresses)  // without more threads each runs later, on this one
    tries.push_back(std::async([&address, timeout_ms] { return why_unreachable(address, timeout_ms); }));
  std::vector<std::string> reasons;
  for (auto& each : tries) reasons.push_back(each.get());
  return reasons;
}

}  // namespace actorflow
