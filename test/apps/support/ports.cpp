#include "test/apps/support/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
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
int new_socket() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "socket");
  return descriptor;
}

// Binds a socket to a port that the system picks, and returns the port.
int bind_somewhere(int descriptor) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  BOOST_REQUIRE(bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0);
  BOOST_REQUIRE(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

}  // namespace

std::vector<std::string> free_addresses(int count) {
  // All are bound at once, so that no port comes twice.
  std::vector<int> sockets;
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    sockets.push_back(new_socket());
    addresses.push_back("127.0.0.1:" + std::to_string(bind_somewhere(sockets.back())));
  }
  for (const int descriptor : sockets) close(descriptor);
  return addresses;
}

int connect_to(const std::string& address) {
  const sockaddr_in target = loopback(std::stoi(address.substr(address.rfind(':') + 1)));
  const int descriptor = new_socket();
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
