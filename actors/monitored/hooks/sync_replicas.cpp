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
    for (std::size_t i = 0; i < rejoined_.size(); ++i)
      args.feeds.emplace_back(train_.rejoin[i].first, std::move(rejoined_[i]));
    rejoined_.clear();
    for (const auto& serial : train_.serials) args.feeds.emplace_back(serial, Tensor::scalar(serial_));
    return args;
  }

  // A step that has failed is made again with the serial that it had.
  void after_run(RunContext& context, std::span<const Tensor>) override {
    if (context.makes(train_.step)) ++serial_;
  }

 private:
  // The first step of a session computes with the values that its global step began with: others may
  // have completed the step for some variables already, and for others wait for this replica.
  void rejoin(Session& session) {
    std::vector<Output> values;
    for (const auto& [variable, at_step] : train_.rejoin) values.push_back(at_step);
    rejoined_ = session.run(values);
  }

  TrainOp train_;
  std::vector<Tensor> rejoined_;  // to feed the next step with
  std::int64_t serial_ = 0;
};

}  // namespace

HookRef sync_replicas(const TrainOp& train) { return std::make_shared<SyncReplicas>(train); }

}  // namespace actorflow
