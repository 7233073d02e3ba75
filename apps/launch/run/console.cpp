#include "apps/launch/run/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace actorflow {
namespace {

constexpr int look_interval_ms = 100, waits_at_the_end = 10;

// Cyan, green, yellow, magenta, blue: readable on black and on white.
constexpr std::array colours{36, 32, 33, 35, 34};

std::string prefix(int stream, std::string_view who, int colour) {
  if (!isatty(stream)) return fmt::format("{} | ", who);
  const int code = colour < 0 ? 1 : colours[static_cast<std::size_t>(colour) % colours.size()];
  return fmt::format("\x1b[{}m{} | \x1b[0m", code, who);
}

}  // namespace

void Console::print(int stream, std::string_view who, int colour, std::string_view line) {
  if (copy_) copy_(stream, who, colour, line);
  if (given_up_.at(static_cast<std::size_t>(stream))) return;
  std::string bytes = prefix(stream, who, colour);
  bytes += line;
  bytes += '\n';
  write(stream, bytes);
}

void Console::hurry() { waits_left_ = waits_left_ ? 0 : waits_at_the_end; }

void Console::write(int stream, std::string_view bytes) {
  while (!bytes.empty() && wait_for_reader(stream)) {
    // A writable pipe takes PIPE_BUF bytes without blocking.
    const auto size = ::write(stream, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
    if (size >= 0 || errno == EINTR || errno == EAGAIN) continue;
    if (failure_ == 0) failure_ = errno;
    given_up_[static_cast<std::size_t>(stream)] = true;
    return;
  }
}

bool Console::wait_for_reader(int stream) {
  pollfd wait{stream, POLLOUT, 0};
  while (poll(&wait, 1, look_interval_ms) <= 0) {
    look_();
    if (!waits_left_ || (*waits_left_)-- > 0) continue;
    waits_left_ = 0;
    given_up_[static_cast<std::size_t>(stream)] = true;
    return false;
  }
  return true;
}

}  // namespace actorflow
