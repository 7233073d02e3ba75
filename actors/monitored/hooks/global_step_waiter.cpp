#include <spdlog/spdlog.h>

#include <chrono>

#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

constexpr std::chrono::milliseconds step_interval{100};

class GlobalStepWaiter : public SessionHook {
 public:
  explicit GlobalStepWaiter(std::int64_t wait_until) : wait_until_(wait_until) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }

  // Ends with the job: then the session fails as cancelled.
  RunArgs before_run(RunContext& context) override {
    StepTimer timer({.seconds = 5});
    for (std::int64_t polls = 1; !reached_; ++polls) {
      const auto step = context.session().run(global_step_).scalar<std::int64_t>();
      reached_ = step >= wait_until_;
      if (reached_) break;
      if (timer.is_due(polls, context.now())) {
        timer.done(polls, context.now());
        spdlog::info("waiting for global step {} before the first step; it is {}", wait_until_, step);
      }
      context.runtime().sleep(step_interval);
    }
    return {};
  }

 private:
  std::int64_t wait_until_;
  bool reached_ = false;
  Variable global_step_;
};

}  // namespace

HookRef global_step_waiter(std::int64_t global_step) {
  return std::make_shared<GlobalStepWaiter>(global_step);
}

}  // namespace actorflow
