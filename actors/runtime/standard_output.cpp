#include "actors/runtime/standard_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>

#include "actors/runtime/exit_status.h"

namespace actorflow {

int status_with_output(const std::string& program, int status) {
  const bool is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
  if (status != success || is_closed) return status;
  errno = 0;
  std::cout.flush();
  const bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!is_lost || errno == EPIPE) return status;
  const std::string reason = errno == 0 ? "a write has failed" : std::strerror(errno);
  fmt::print(stderr, "{}: error: standard output cannot be written: {}\n", program, reason);
  return failed_run;
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
