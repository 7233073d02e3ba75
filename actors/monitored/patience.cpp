#include "actors/monitored/patience.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::chrono::milliseconds poll_interval{50};
constexpr std::chrono::seconds report_interval{5};

}  // namespace

void Patience::wait(const std::string& for_what) {
  const auto now = runtime_->clock().now();
  const double waited = std::chrono::duration<double>(now - began_).count();
  if (limit_secs_ > 0 && waited >= limit_secs_)
    throw Error(Code::deadline_exceeded,
                fmt::format("{} waited {:.0f} s {}, and gave up; start what is missing, or raise "
                            "max_wait_secs (--connect_timeout of actorflow train and trainer)",
                            who_, waited, for_what));
  if (now + poll_interval >= next_report_) {  // the last chance to say it in time
    spdlog::info("{} waits {}, since {:.0f} s", who_, for_what, waited);
    next_report_ = now + report_interval;
  }
  runtime_->sleep(poll_interval);
}

}  // namespace actorflow
