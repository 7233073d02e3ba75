#include <functional>
#include <memory>
#include <utility>

#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

class StopAtStep : public SessionHook {
 public:
  StopAtStep(std::int64_t last_step, std::int64_t steps, std::function<std::int64_t()> first_step)
      : last_step_(last_step), steps_(steps), first_step_(std::move(first_step)) {}

  void begin(Scaffold& scaffold) override { scaffold_ = &scaffold; }

  void after_create_session(RunContext& context) override {
    const auto step = present_step(context);
    if (last_step_ == 0) last_step_ = step + steps_;
    if (step >= last()) context.request_stop();
  }

  RunArgs before_run(RunContext& context) override {
    trains_ = context.makes(scaffold_->train_step);
    return {{trains_ ? scaffold_->train_step : scaffold_->global_step}, {}};
  }

  // A train op says where training stands after it. Without one the fetched step is that before our own.
  // Others may have made steps too, or ours may not have counted, so it is read once more when it may be
  // the last.
  void after_run(RunContext& context, std::span<const Tensor> results) override {
    const auto step = results[0].scalar<std::int64_t>();
    if (trains_ ? step >= last() : step + 1 >= last() && present_step(context) >= last())
      context.request_stop();
  }

 private:
  std::int64_t present_step(const RunContext& context) const {
    return context.session().run(scaffold_->global_step).scalar<std::int64_t>();
  }

  std::int64_t last() const { return last_step_ + (first_step_ ? first_step_() : 0); }

  std::int64_t last_step_;  // 0: `steps_` after the first session's
  std::int64_t steps_;
  std::function<std::int64_t()> first_step_;
  const Scaffold* scaffold_ = nullptr;
  bool trains_ = false;  // the step that is under way
};

}  // namespace

HookRef stop_at_step(std::int64_t last_step, std::function<std::int64_t()> first_step) {
  return std::make_shared<StopAtStep>(last_step, 0, std::move(first_step));
}
HookRef stop_after_steps(std::int64_t steps) {
  return std::make_shared<StopAtStep>(0, steps, std::function<std::int64_t()>());
}

}  // namespace actorflow
