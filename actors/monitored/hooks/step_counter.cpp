#include <spdlog/spdlog.h>

#include "actors/monitored/event_log.h"
#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

class StepCounter : public SessionHook {
 public:
  StepCounter(Every every, StepRate report) : timer_(every), report_(std::move(report)) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }
  void after_create_session(RunContext& context) override {
    timer_.done(context.session().run(global_step_).scalar<std::int64_t>(), context.now());
  }
  RunArgs before_run(RunContext&) override { return {{global_step_}, {}}; }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    const auto step = results[0].scalar<std::int64_t>();
    const auto now = context.now();
    if (!timer_.is_due(step, now)) return;
    const auto steps = static_cast<double>(step - timer_.last_step());
    report_(step, steps / timer_.seconds_since_last(now));
    timer_.done(step, now);
  }

 private:
  StepTimer timer_;
  StepRate report_;
  Variable global_step_;
};

}  // namespace

HookRef step_counter(Every every, StepRate report) {
  if (!report)
    report = [](std::int64_t step, double rate) {
      spdlog::info("global_step/sec: {:.1f}, step = {}", rate, step);
    };
  return std::make_shared<StepCounter>(every, std::move(report));
}

HookRef step_counter(Every every, std::shared_ptr<EventWriter> writer) {
  return step_counter(every,
                      [log = EventLog(std::move(writer))](std::int64_t step, double rate) mutable {
                        log.write([&](EventWriter& to) { to.scalar(step, "global_step/sec", rate); });
                      });
}

}  // namespace actorflow
