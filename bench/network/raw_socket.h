// Blocking sockets of one machine, the baseline of the transport benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow::bench {

// A stream that sends at once (TCP_NODELAY). Throws after waiting for a minute. Not thread-safe.
class RawStream {
 public:
  // To a port of this machine. Throws unavailable.
  static RawStream connect(std::uint16_t port);
  // To an abstract Unix socket. Throws unavailable.
  static RawStream connect(const std::string& name);
  explicit RawStream(int fd);
  RawStream(RawStream&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), ssl_(std::move(other.ssl_)) {}
  RawStream& operator=(RawStream&&) = delete;
  ~RawStream();

  // Throws unavailable if the peer has gone.
  void write(std::span<const std::byte> bytes);
  // Fills `bytes`; false if the peer has closed before. Throws unavailable.
  bool read(std::span<std::byte> bytes);

  // Switches to TLS 1.3 encryption, as links use it, but without authentication. The answering end shows
  // the certificate of `holder` in this folder.
  void call_tls();
  void answer_tls(const std::string& credentials, const Holder& holder);

 private:
  void handshake(SslContextPtr context, bool answering);

  int fd_;
  SslPtr ssl_;  // null: plain
};

class RawListener {
 public:
  // On a free port of this machine.
  RawListener();
  // On an abstract Unix socket.
  explicit RawListener(const std::string& name);
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;
  ~RawListener();

  std::uint16_t port() const;
  RawStream accept();

 private:
  int fd_;
};

}  // namespace actorflow::bench
