#include "bench/network/raw_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow::bench {
namespace {

constexpr timeval limit{.tv_sec = 60, .tv_usec = 0};

int check(ssize_t result, const char* doing) {
  if (result < 0) throw Error(Code::unavailable, std::string(doing) + ": " + std::strerror(errno));
  return static_cast<int>(result);
}

int at_once(std::span<const std::byte> bytes) {
  return static_cast<int>(std::min(bytes.size(), std::size_t{1} << 30U));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket(int family) { return check(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"); }

struct AbstractAddress {
  explicit AbstractAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size = 0;
};

}  // namespace

RawStream::RawStream(int fd) : fd_(fd) {
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

RawStream RawStream::connect(std::uint16_t port) {
  RawStream stream(new_socket(AF_INET));
  const sockaddr_in address = loopback(port);
  check(::connect(stream.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  return stream;
}

RawStream RawStream::connect(const std::string& name) {
  RawStream stream(new_socket(AF_UNIX));
  const AbstractAddress address(name);
  check(::connect(stream.fd_, address.get(), address.size), "connect");
  return stream;
}

RawStream::~RawStream() {
  if (fd_ >= 0) close(fd_);
}

void RawStream::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto sent = ssl_ ? check(SSL_write(ssl_.get(), bytes.data(), at_once(bytes)), "SSL_write")
                           : check(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

bool RawStream::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const auto received = ssl_ ? SSL_read(ssl_.get(), bytes.data(), at_once(bytes))
                               : check(recv(fd_, bytes.data(), bytes.size(), 0), "recv");
    if (received <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

void RawStream::call_tls() { handshake(SslContextPtr(SSL_CTX_new(TLS_client_method())), false); }

void RawStream::answer_tls(const std::string& credentials, const Holder& holder) {
  const CredentialFiles files(credentials, holder);
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  openssl_check(
      SSL_CTX_use_certificate_file(context.get(), files.certificate.c_str(), SSL_FILETYPE_PEM) == 1 &&
          SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) == 1,
      "using a certificate");
  handshake(std::move(context), true);
}

void RawStream::handshake(SslContextPtr context, bool answering) {
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_read_ahead(context.get(), 1);
  ssl_.reset(SSL_new(context.get()));
  SSL_set_fd(ssl_.get(), fd_);
  openssl_check((answering ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get())) == 1, "a handshake");
}

RawListener::RawListener(const std::string& name) : fd_(new_socket(AF_UNIX)) {
  const AbstractAddress address(name);
  check(bind(fd_, address.get(), address.size), "bind");
  check(listen(fd_, 1), "listen");
}

RawListener::RawListener() : fd_(new_socket(AF_INET)) {
  const sockaddr_in address = loopback(0);
  check(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  check(listen(fd_, 1), "listen");
}

RawListener::~RawListener() { close(fd_); }

std::uint16_t RawListener::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  check(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return ntohs(address.sin_port);
}

RawStream RawListener::accept() {
  return RawStream(check(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC), "accept"));
}

}  // namespace actorflow::bench
