#include "actors/runtime/standard_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <system_error>

#include "actors/runtime/exit_status.h"

namespace actorflow {

namespace {

// A write that has failed says so once: afterwards the pipe itself must be asked.
bool has_no_reader() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

int say_lost(const std::string& program, const std::string& reason) {
  fmt::print(stderr, "{}: error: standard output cannot be written: {}\n", program, reason);
  return failed_run;
}

}  // namespace

int status_with_output(const std::string& program, int status) {
  const bool is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
  if (status != success || is_closed) return status;
  const int error = std::fflush(stdout) == 0 ? 0 : errno;  // std::cout has no buffer of its own
  const bool is_lost = error != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!is_lost || error == EPIPE || has_no_reader()) return status;
  return say_lost(program, error == 0 ? "a write has failed" : std::strerror(error));
}

bool is_of_output(const std::exception& error) {
  return std::ferror(stdout) != 0 && dynamic_cast<const std::system_error*>(&error) != nullptr;
}

int status_without_output(const std::string& program, const std::exception& error) {
  if (has_no_reader()) return 128 + SIGPIPE;
  return say_lost(program, dynamic_cast<const std::system_error&>(error).code().message());
}

void log_to_stderr(const std::string& logger) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool may_have_colors = no_color == nullptr || *no_color == '\0';
  const auto colors = may_have_colors ? spdlog::color_mode::automatic : spdlog::color_mode::never;
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      logger, std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colors)));
  spdlog::set_pattern("%H:%M:%S %^%l%$ %v");
}

}  // namespace actorflow
