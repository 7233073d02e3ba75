// A peer that writes bytes of its own.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace actorflow::test {

using Bytes = std::vector<char>;

class Socket {
 public:
  explicit Socket(const std::string& address) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    BOOST_REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  Socket(const Socket&) = delete;
  ~Socket() { close(fd_); }

  // Writes the bytes; stops early if the other end has closed.
  void write(const Bytes& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto n = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }
  // Reads `size` bytes; empty if the other end closes before.
  Bytes read(std::size_t size) {
    Bytes bytes(size);
    return recv(fd_, bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size) ? bytes : Bytes();
  }
  // Reads whatever comes until the other end closes.
  void wait_for_end() {
    Bytes answer(4096);
    while (recv(fd_, answer.data(), answer.size(), 0) > 0) continue;
  }

 private:
  int fd_;
};

}  // namespace actorflow::test
