#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

class FeedFn : public SessionHook {
 public:
  explicit FeedFn(FeedSource source) : source_(std::move(source)) {}

  void begin(Scaffold& scaffold) override { global_step_ = scaffold.global_step; }
  void after_create_session(RunContext& context) override {
    if (source_.begin) source_.begin(context.session().run(global_step_).scalar<std::int64_t>());
  }
  RunArgs before_run(RunContext&) override { return {{}, source_.next()}; }

 private:
  FeedSource source_;
  Variable global_step_;
};

}  // namespace

HookRef feed_fn(FeedSource source) { return std::make_shared<FeedFn>(std::move(source)); }

}  // namespace actorflow
