// A port that is taken.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

namespace actorflow::test {

class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    BOOST_REQUIRE(bind(socket_, reinterpret_cast<const sockaddr*>(&address_), size) == 0);
    BOOST_REQUIRE(listen(socket_, 1) == 0);
    BOOST_REQUIRE(getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size) == 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(socket_); }

  int port() const { return ntohs(address_.sin_port); }

 private:
  int socket_;
  sockaddr_in address_{};
};

}  // namespace actorflow::test
