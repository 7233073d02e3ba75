#include <utility>

#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

class SyncReplicas : public SessionHook {
 public:
  explicit SyncReplicas(TrainOp train) : train_(std::move(train)) {}

  void begin(Scaffold& scaffold) override {
    scaffold.train_step = train_.step;
    if (train_.local_init) scaffold.local_init.push_back(train_.local_init);
  }

  void after_create_session(RunContext& context) override {
    if (!train_.rejoin.empty()) rejoin(context.session());
    if (train_.next_serial) serial_ = context.session().run(train_.next_serial).scalar<std::int64_t>();
  }

  RunArgs before_run(RunContext& context) override {
    RunArgs args;
    if (!context.makes(train_.step)) return args;
    for (auto& feed : std::exchange(rejoined_, {})) args.feeds.push_back(std::move(feed));
    for (const auto& serial : train_.serials) args.feeds.emplace_back(serial, Tensor::scalar(serial_));
    return args;
  }

  // A step that has failed is made again with the serial that it had.
  void after_run(RunContext& context, std::span<const Tensor>) override {
    if (context.makes(train_.step)) ++serial_;
  }

 private:
  // The first step of a session computes with the values that its global step began with: others may
  // have completed the step for some variables already, and for others wait for this replica. What does
  // not have its gradient waits for it.
  void rejoin(Session& session) {
    rejoined_.clear();
    std::vector<Output> asked, values;
    for (const auto& variable : train_.rejoin) asked.push_back(variable.has_gradient);
    const auto has_gradient = session.run(asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!has_gradient[i].scalar<bool>()) continue;
      values.push_back(train_.rejoin[i].at_step);
      rejoined_.emplace_back(train_.rejoin[i].value, Tensor());
    }
    if (values.empty()) return;
    auto fetched = session.run(values);
    for (std::size_t i = 0; i < fetched.size(); ++i) rejoined_[i].second = std::move(fetched[i]);
  }

  TrainOp train_;
  Feeds rejoined_;  // of the next step
  std::int64_t serial_ = 0;
};

}  // namespace

HookRef sync_replicas(const TrainOp& train) { return std::make_shared<SyncReplicas>(train); }

}  // namespace actorflow
