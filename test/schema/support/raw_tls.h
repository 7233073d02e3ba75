// A peer that speaks plain OpenSSL TLS: it accepts any certificate and shows a given one.
#pragma once

#include <arpa/inet.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <thread>

#include "schema/tls/openssl.h"
#include "test/schema/support/keys.h"

namespace actorflow::test {

struct RawTlsOptions {
  std::optional<Credentials> credentials = {};
  int version = TLS1_3_VERSION;
};

class RawTls {
 public:
  explicit RawTls(const RawTlsOptions& options) : context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), options.version);
    SSL_CTX_set_max_proto_version(context_.get(), options.version);
    if (!options.credentials) return;
    const auto certificates = read_certificates(options.credentials->certificate, "certificate");
    BOOST_REQUIRE(SSL_CTX_use_certificate(context_.get(), certificates.front().get()) == 1);
    BOOST_REQUIRE(
        SSL_CTX_use_PrivateKey(context_.get(), read_key(options.credentials->key, "key").get()) == 1);
  }

  // Calls, sends the text, and waits for an answer. Returns OpenSSL's error, or "" if the other end has
  // answered with bytes.
  std::string call(const std::string& address, const std::string& text = "hello") {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BOOST_REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    const SslPtr ssl(SSL_new(context_.get()));
    SSL_set_fd(ssl.get(), fd);
    ERR_clear_error();
    const std::string outcome = SSL_connect(ssl.get()) == 1 ? talk(*ssl, text) : reason();
    close(fd);
    return outcome;
  }

 private:
  static std::string talk(SSL& ssl, const std::string& text) {
    SSL_write(&ssl, text.data(), static_cast<int>(text.size()));
    char answer = 0;
    return SSL_read(&ssl, &answer, 1) == 1 ? "" : reason();
  }
  static std::string reason() {
    const bool known = ERR_peek_error() != 0;
    const std::string text = openssl_error();
    return known ? text : "the connection was closed";
  }

  SslContextPtr context_;
};

// Answers one caller by TLS, whatever certificate it shows, until the object is destroyed.
class RawTlsServer {
 public:
  explicit RawTlsServer(const Credentials& credentials)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    BOOST_REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    BOOST_REQUIRE(listen(fd_, 8) == 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this, credentials] { serve(credentials); });
  }
  RawTlsServer(const RawTlsServer&) = delete;
  RawTlsServer& operator=(const RawTlsServer&) = delete;
  ~RawTlsServer() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    close(fd_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void serve(const Credentials& credentials) const {
    const SslContextPtr context(SSL_CTX_new(TLS_server_method()));
    const auto certificates = read_certificates(credentials.certificate, "certificate");
    SSL_CTX_use_certificate(context.get(), certificates.front().get());
    SSL_CTX_use_PrivateKey(context.get(), read_key(credentials.key, "key").get());
    while (true) {
      const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const SslPtr ssl(SSL_new(context.get()));
      SSL_set_fd(ssl.get(), fd);
      char byte = 0;
      if (SSL_accept(ssl.get()) == 1) SSL_read(ssl.get(), &byte, 1);
      ERR_clear_error();
      close(fd);
    }
  }

  int fd_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace actorflow::test
