#include "test/support/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <system_error>

namespace actorflow::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// Proxies call it on threads of their own, where nothing of Boost.Test may be used.
int new_socket(int family) {
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "socket");
  return descriptor;
}

// Below the ports that Linux gives to connections and to port 0 (32768 and above).
constexpr int first_port = 16384, end_port = 32768;

// A socket in the abstract name space is one per network name space, as ports are, and ends with its
// process.
bool claim(int port) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "actorflow-test-port-" + std::to_string(port);
  std::copy(text.begin(), text.end(), name.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const int descriptor = new_socket(AF_UNIX);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&name), size) == 0)
    return true;  // held until the end
  close(descriptor);
  return false;
}

bool can_listen(int port) {
  const sockaddr_in address = loopback(port);
  const int descriptor = new_socket(AF_INET);
  const bool bound = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return bound;
}

}  // namespace

std::string free_address() {
  // Tests that begin at once begin far from each other.
  static std::atomic<unsigned> next{static_cast<unsigned>(getpid()) * 97};
  for (int tries = first_port; tries < end_port; ++tries) {
    const int port = first_port + static_cast<int>(next++ % (end_port - first_port));
    if (claim(port) && can_listen(port)) return "127.0.0.1:" + std::to_string(port);
  }
  throw std::runtime_error("no port of loopback is free");
}

std::vector<std::string> free_addresses(int count) {
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) addresses.push_back(free_address());
  return addresses;
}

int connect_to(const std::string& address) {
  const sockaddr_in target = loopback(std::stoi(address.substr(address.rfind(':') + 1)));
  const int descriptor = new_socket(AF_INET);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0)
    return descriptor;
  close(descriptor);
  return -1;
}

bool is_listening(const std::string& address) {
  const int descriptor = connect_to(address);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

}  // namespace actorflow::test
