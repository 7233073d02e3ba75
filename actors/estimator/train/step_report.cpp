#include "actors/estimator/train/step_report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>

namespace actorflow {
namespace {

// Steps per second since the timer's last; none where it has none before this step.
std::optional<double> rate_of(const StepTimer& timer, std::int64_t step, Clock::time_point now) {
  if (timer.last_step() < 0 || step <= timer.last_step()) return std::nullopt;
  const double seconds = timer.seconds_since_last(now);
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(step - timer.last_step()) / seconds;
}

}  // namespace

StepReport::StepReport(const RunConfig& config, Storage& storage, Clock& clock)
    : clock_(clock),
      log_({.steps = config.log_step_count_steps}),
      summaries_({.steps = config.save_summary_steps}) {
  if (config.save_summary_steps > 0)
    events_.emplace(std::make_shared<EventWriter>(storage, config.model_dir));
}

void StepReport::after(std::int64_t step, double loss) {
  const bool begins = last_step_ < 0 || step <= last_step_;
  if (events_ && begins) events_->write([step](EventWriter& to) { to.session_start(step); });
  last_step_ = step;
  const auto now = clock_.now();
  if (log_.is_due(step, now)) log(step, loss, now);
  if (summaries_.is_due(step, now)) summarize(step, loss, now);
}

void StepReport::log(std::int64_t step, double loss, Clock::time_point now) {
  const auto rate = rate_of(log_, step, now);
  spdlog::info("step {}: loss {:.6g}{}", step, loss,
               rate ? fmt::format(", {:.1f} steps/s", *rate) : std::string());
  log_.done(step, now);
}

void StepReport::summarize(std::int64_t step, double loss, Clock::time_point now) {
  events_->write([&](EventWriter& to) {
    to.scalar(step, "loss", loss);
    if (const auto rate = rate_of(summaries_, step, now)) to.scalar(step, "global_step/sec", *rate);
  });
  summaries_.done(step, now);
}

}  // namespace actorflow
