#include "apps/launch/step_report.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace actorflow {
namespace {

// -1 if the variable is no number.
long long number_of(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string_view text = value ? value : "";
  long long number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

// -1 without a launcher.
int descriptor() {
  const long long number = number_of(step_report_variable), pipe = number_of(step_pipe_variable);
  if (number <= STDERR_FILENO || number > INT_MAX || pipe < 0) return -1;
  struct stat file {};
  const bool is_pipe = fstat(static_cast<int>(number), &file) == 0 && S_ISFIFO(file.st_mode) &&
                       file.st_ino == static_cast<ino_t>(pipe);
  return is_pipe ? static_cast<int>(number) : -1;
}

void report(char mark, std::atomic<bool>& done) {
  if (done.exchange(true)) return;
  if (const int number = descriptor(); number >= 0) [[maybe_unused]]
    const auto ignored = write(number, &mark, 1);
}

}  // namespace

void report_will_step() {
  static std::atomic<bool> done = false;
  report(will_step_mark, done);
}

void report_step() {
  static std::atomic<bool> done = false;
  report(step_mark, done);
}

}  // namespace actorflow
