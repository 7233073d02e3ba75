// Addresses of tasks: "host:port". Internal to schema/.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace actorflow {

struct Address {
  std::string host;  // without the brackets of IPv6
  std::uint16_t port = 0;

  // Throws invalid_argument unless the text is "name:port", "1.2.3.4:port" or "[ipv6]:port".
  static Address parse(const std::string& text);
  // The address of one end of an IPv4 or IPv6 socket, in numbers. An IPv4 address within IPv6 is given
  // as IPv4.
  static Address of(const sockaddr_storage& socket_address);
  std::string to_string() const;
};

// A listening TCP socket and the address with the port that it got.
struct ListenSocket {
  int fd = -1;
  Address address;
  bool loopback = true;  // false if other machines can reach it
};

enum class Reach { loopback_only, everyone };

// Throws invalid_argument for an address that is not this machine's, permission_denied if other machines
// could reach it and `reach` forbids that, already_exists if the port is taken, resource_exhausted if
// the process has no descriptor or memory left for it, internal for what else may hinder it.
ListenSocket listen_on(const Address& address, Reach reach);

}  // namespace actorflow
