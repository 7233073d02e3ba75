#include <fmt/format.h>

#include "actors/monitored/hooks.h"
#include "actors/monitored/storage_error.h"
#include "actors/runtime/expect_path.h"

namespace actorflow {
namespace {

class Profiler : public SessionHook {
 public:
  Profiler(Every every, std::string folder) : timer_(every), folder_(std::move(folder)) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }

  // The first step plans and connects; what it takes says little.
  void after_create_session(RunContext& context) override {
    timer_.done(context.session().run(global_step_).scalar<std::int64_t>(), context.now());
  }

  RunArgs before_run(RunContext& context) override {
    return {.fetches = {global_step_}, .trace = timer_.is_due(next_, context.now())};
  }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    const auto step = results[0].scalar<std::int64_t>();
    if (timer_.is_due(next_, context.now())) {
      storage_allows("write a timeline", [&] {
        write_chrome_trace(context.trace(), fmt::format("{}/timeline-{}.json", folder_, step));
      });
      timer_.done(step, context.now());
    }
    next_ = step + 1;
  }

 private:
  StepTimer timer_;
  std::string folder_;
  Variable global_step_;
  std::int64_t next_ = 0;  // the step that is probably next
};

}  // namespace

HookRef profiler(Every every, std::string folder) {
  return std::make_shared<Profiler>(every, expect_path("profiler", std::move(folder)));
}

}  // namespace actorflow
