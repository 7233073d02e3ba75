#include "schema/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr int backlog = 512;

struct AddressInfoDeleter {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using AddressInfo = std::unique_ptr<addrinfo, AddressInfoDeleter>;

AddressInfo resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0)
    throw invalid_argument("cannot listen on " + address.to_string() + ": " + gai_strerror(error));
  return AddressInfo(found);
}

// IPv4 first: a name like localhost has both, and IPv6 may be switched off.
const addrinfo& preferred(const addrinfo& list) {
  for (const addrinfo* info = &list; info; info = info->ai_next)
    if (info->ai_family == AF_INET) return *info;
  return list;
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address, sizeof ipv4);
    return ntohl(ipv4.sin_addr.s_addr) >> 24 == 127;
  }
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv6, &address, sizeof ipv6);
  return IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr);
}

Status failure(const Address& address, int error) {
  const std::string what = "cannot listen on " + address.to_string() + ": ";
  switch (error) {
    case EADDRINUSE:
      return {Code::already_exists, what + "the port is already in use; choose another port or 0"};
    case EADDRNOTAVAIL:
      return {Code::invalid_argument, what + "this machine does not have that address"};
    case EACCES:
    case EPERM:
      return {Code::permission_denied, what + std::strerror(error)};
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return {Code::resource_exhausted, what + std::strerror(error)};
    default:
      return {Code::internal, what + std::strerror(error)};
  }
}

std::uint16_t port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  return Address::of(bound).port;
}

}  // namespace

Address Address::parse(const std::string& text) {
  const auto fail_with = [&](const std::string& why) -> Error {
    return invalid_argument("'" + text + "' is not an address of the form host:port: " + why);
  };
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) throw fail_with("there is no port");
  Address address{text.substr(0, colon), 0};
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  else if (address.host.find_first_of(":[]") != std::string::npos)
    throw fail_with("an IPv6 address stands in brackets");
  if (address.host.empty()) throw fail_with("the host is missing");
  if (address.host.find_first_of("/* \t") != std::string::npos)
    throw fail_with("'" + address.host + "' is not a host");
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, address.port);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    throw fail_with("a port is a number from 0 to 65535");
  return address;
}

Address Address::of(const sockaddr_storage& socket_address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  std::memcpy(&ipv4, &socket_address, sizeof ipv4);
  std::memcpy(&ipv6, &socket_address, sizeof ipv6);
  const in6_addr& host = ipv6.sin6_addr;
  if (socket_address.ss_family == AF_INET)
    inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
  else if (IN6_IS_ADDR_V4MAPPED(&host))
    inet_ntop(AF_INET, &host.s6_addr[12], text.data(), text.size());
  else
    inet_ntop(AF_INET6, &host, text.data(), text.size());
  return {text.data(), ntohs(ipv4.sin_port)};  // at the same place for both families
}

std::string Address::to_string() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

ListenSocket listen_on(const Address& address, Reach reach) {
  const AddressInfo list = resolve(address);
  const addrinfo& info = preferred(*list);
  if (reach == Reach::loopback_only && !is_loopback(*info.ai_addr))
    throw Error(
        Code::permission_denied,
        "will not listen on " + address.to_string() +
            ": other machines can reach it, and there are no credentials. Either make some with "
            "'actorflow keygen' and start every task with --credentials=FOLDER; or listen on "
            "127.0.0.1; or, in a network that nobody else has a way into, accept with --insecure "
            "that whoever reaches the port can read and change everything");
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) throw Error(failure(address, errno));
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, info.ai_addr, info.ai_addrlen) < 0 || listen(fd, backlog) < 0) {
    const int error = errno;
    close(fd);
    throw Error(failure(address, error));
  }
  return {fd, {address.host, port_of(fd)}, is_loopback(*info.ai_addr)};
}

}  // namespace actorflow
