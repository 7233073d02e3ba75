#include "actors/models/logs/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace actorflow {

ProgressLine::ProgressLine(Clock& clock, bool silent, int epoch, int last_epoch,
                           std::optional<std::int64_t> steps)
    : clock_(clock),
      silent_(silent),
      live_(!silent && isatty(fileno(stdout)) == 1),
      epoch_(epoch),
      last_epoch_(last_epoch),
      steps_(steps) {}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(clock_.now() - began_).count();
}

std::string ProgressLine::begin() const { return fmt::format("epoch {}/{}", epoch_, last_epoch_); }

void ProgressLine::step() {
  ++done_;
  if (!live_) return;
  const auto now = clock_.now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  const std::string of = steps_ ? fmt::format("/{}", *steps_) : "";
  const double left =
      steps_ ? seconds() / static_cast<double>(done_) * static_cast<double>(*steps_ - done_) : 0;
  fmt::print("\r{}  step {}{}{}\033[K", begin(), done_, of,
             steps_ ? fmt::format("  {:.0f} s left", left) : "");
  std::fflush(stdout);
}

void ProgressLine::finish(const Logs& logs) {
  if (silent_) return;
  std::string values;
  for (const auto& [name, value] : logs.values()) values += fmt::format("  {} {:.4g}", name, value);
  fmt::print("{}{}  {} steps  {:.1f} s{}{}\n", live_ ? "\r" : "", begin(), done_, seconds(), values,
             live_ ? "\033[K" : "");
  std::fflush(stdout);
}

}  // namespace actorflow
