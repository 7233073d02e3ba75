#include "test/apps/support/frame_proxy.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <optional>

#include "test/support/ports.h"

namespace actorflow::test {
namespace {

constexpr std::uint32_t delivery_mark = std::uint32_t{1} << 31;
constexpr const char* bulk_mark = "AFLOWBLK";

// A socket that listens on a port of loopback that the system picks.
int new_listener() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  BOOST_REQUIRE(listener >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  BOOST_REQUIRE(listen(listener, SOMAXCONN) == 0);
  return listener;
}

std::string address_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  BOOST_REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// False at the end of the connection.
bool read_all(int socket, char* to, std::size_t size) {
  for (ssize_t got = 0; size > 0; to += got, size -= static_cast<std::size_t>(got))
    if ((got = recv(socket, to, size, 0)) <= 0) return false;
  return true;
}

void write_all(int socket, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t size = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) return;
    sent += static_cast<std::size_t>(size);
  }
}

// As they are, until the end.
void carry_bytes(int from, int to) {
  std::array<char, 1 << 16> part;
  for (ssize_t size; (size = recv(from, part.data(), part.size(), 0)) > 0;)
    write_all(to, std::string(part.data(), static_cast<std::size_t>(size)));
}

std::uint32_t word(const std::string& bytes, std::size_t number) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + number * sizeof value, sizeof value);
  return value;
}

// The rest of a frame that begins with these 8 bytes; nothing at the end of the connection.
std::optional<FrameProxy::Frame> read_frame(int from, std::string bytes) {
  const std::size_t segments = (word(bytes, 0) & ~delivery_mark) + std::size_t{1};
  const auto read_more = [&](std::size_t size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + size);
    return read_all(from, bytes.data() + before, size);
  };
  if (!read_more(segments / 2 * 8)) return std::nullopt;
  std::size_t words = 0;
  for (std::size_t i = 0; i < segments; ++i) words += word(bytes, 1 + i);
  if (!read_more(words * 8)) return std::nullopt;
  return FrameProxy::Frame{(word(bytes, 0) & delivery_mark) != 0, std::move(bytes)};
}

void carry_frames(int from, int to, const FrameProxy::Way& way) {
  const auto send = [to](const std::string& bytes) { write_all(to, bytes); };
  for (std::string head(8, '\0'); read_all(from, head.data(), head.size());) {
    if (head == bulk_mark) {
      send(head);
      return carry_bytes(from, to);
    }
    const auto frame = read_frame(from, head);
    if (!frame) return;
    way(*frame, send);
  }
}

// Both ends of a way, whoever of the two carriers is first.
void end(int from, int to) {
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace

FrameProxy::FrameProxy(std::string target, std::function<Way()> make_way)
    : target_(std::move(target)),
      make_way_(std::move(make_way)),
      listener_(new_listener()),
      address_(address_of(listener_)) {
  acceptor_ = std::jthread([this] { accept_all(); });
}

FrameProxy::~FrameProxy() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    shutdown(listener_, SHUT_RDWR);
  }
  cut();
  acceptor_.join();
  carriers_.clear();
  close(listener_);
  for (const int socket : sockets_) close(socket);
}

void FrameProxy::cut() {
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

void FrameProxy::accept_all() {
  for (int caller; (caller = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) begin(caller);
}

// Who is not there is not reached here either: the connection ends.
void FrameProxy::begin(int caller) {
  const int task = connect_to(target_);
  const std::lock_guard lock(mutex_);
  if (over_ || task < 0) {
    close(caller);
    if (task >= 0) close(task);
    return;
  }
  sockets_.insert(sockets_.end(), {caller, task});
  carriers_.emplace_back([caller, task, way = make_way_()] {
    carry_frames(caller, task, way);
    end(caller, task);
  });
  carriers_.emplace_back([caller, task] {
    carry_bytes(task, caller);
    end(caller, task);
  });
}

}  // namespace actorflow::test
