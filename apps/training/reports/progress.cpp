#include "apps/training/reports/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "apps/launch/step_report.h"

namespace actorflow {

namespace {

// A line that a terminal breaks is not written over by the next one.
std::string cut_to_terminal(std::string line, std::FILE* terminal) {
  winsize size{};
  if (ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && line.size() >= size.ws_col)
    line.resize(size.ws_col - 1U);
  return line;
}

}  // namespace

Progress::Progress(std::FILE* out) : out_(out), live_(out && isatty(fileno(out)) == 1) {}

void Progress::update(const Meter& meter) {
  report_step();  // the first one, to the launcher
  const auto now = std::chrono::steady_clock::now();
  if (!out_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(live_ ? 100 : 1000);
  show(meter);
}

void Progress::finish(const Meter& meter) {
  if (!out_ || !meter.has_steps()) return;
  if (meter.step() != shown_step_) show(meter);
  if (live_) std::fputc('\n', out_);
  std::fflush(out_);
}

// Asynchronous workers may go some steps past the end.
void Progress::show(const Meter& meter) {
  shown_step_ = meter.step();
  const auto left = static_cast<int>(meter.seconds_left() + 0.5);
  const std::string line =
      fmt::format("step {}/{}  loss {:.4f}  accuracy {:.4f}  {:.0f} examples/s  {}:{:02} left",
                  meter.step(), std::max(meter.end(), meter.step()), meter.loss(), meter.accuracy(),
                  meter.examples_per_second(), left / 60, left % 60);
  if (live_)
    fmt::print(out_, "\r{}\033[K", cut_to_terminal(line, out_));
  else
    fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

}  // namespace actorflow
