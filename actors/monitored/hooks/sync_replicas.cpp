#include <algorithm>

#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

// The first step of a session computes with the values that its global step began with: others may have
// completed the step for some variables already, and for others wait for this replica.
class SyncReplicas : public SessionHook {
 public:
  explicit SyncReplicas(TrainOp train) : train_(std::move(train)) {}

  void begin(Scaffold& scaffold) override {
    if (train_.local_init) scaffold.local_init.push_back(train_.local_init);
  }

  void after_create_session(RunContext& context) override {
    if (train_.rejoin.empty()) return;
    std::vector<Output> values;
    for (const auto& [variable, at_step] : train_.rejoin) values.push_back(at_step);
    values_ = context.session().run(values);
  }

  RunArgs before_run(RunContext& context) override {
    RunArgs args;
    if (std::ranges::find(context.fetches(), train_.step.edge, &Output::edge) == context.fetches().end())
      return args;
    for (std::size_t i = 0; i < values_.size(); ++i)
      args.feeds.emplace_back(train_.rejoin[i].first, std::move(values_[i]));
    values_.clear();
    return args;
  }

 private:
  TrainOp train_;
  std::vector<Tensor> values_;  // to feed the next step with
};

}  // namespace

HookRef sync_replicas(const TrainOp& train) { return std::make_shared<SyncReplicas>(train); }

}  // namespace actorflow
