#include <algorithm>
#include <map>

#include "actors/monitored/hooks.h"
#include "dataflow/optimise.h"

namespace actorflow {
namespace {

class SyncReplicas : public SessionHook {
 public:
  explicit SyncReplicas(TrainOp train) : train_(std::move(train)) {}

  void begin(Scaffold& scaffold) override {
    graph_ = &scaffold.graph;
    if (train_.local_init) scaffold.local_init.push_back(train_.local_init);
  }

  void after_create_session(RunContext& context) override {
    if (!train_.rejoin.empty()) rejoin(context.session());
    if (train_.next_serial) serial_ = context.session().run(train_.next_serial).scalar<std::int64_t>();
  }

  RunArgs before_run(RunContext& context) override {
    RunArgs args;
    if (!trains(context.asked())) return args;
    for (std::size_t i = 0; i < rejoined_.size(); ++i)
      args.feeds.emplace_back(train_.rejoin[i].first, std::move(rejoined_[i]));
    rejoined_.clear();
    for (const auto& serial : train_.serials) args.feeds.emplace_back(serial, Tensor::scalar(serial_));
    return args;
  }

  // A step that has failed is made again with the serial that it had.
  void after_run(RunContext& context, std::span<const Tensor>) override {
    if (trains(context.asked())) ++serial_;
  }

 private:
  // The first step of a session computes with the values that its global step began with: others may
  // have completed the step for some variables already, and for others wait for this replica.
  void rejoin(Session& session) {
    std::vector<Output> values;
    for (const auto& [variable, at_step] : train_.rejoin) values.push_back(at_step);
    rejoined_ = session.run(values);
  }

  // Whether a step that is asked for these makes the train op's step, too.
  bool trains(std::span<const Output> asked) {
    const NodeId step = train_.step.edge.node;
    const auto node_of = [](const Output& output) { return output.edge.node; };
    if (std::ranges::find(asked, step, node_of) != asked.end()) return true;
    std::vector<NodeId> roots(asked.size());
    std::ranges::transform(asked, roots.begin(), node_of);
    const auto [known, is_new] = trains_.try_emplace(roots, false);
    if (is_new) known->second = needed_by(graph_->def(), roots)[static_cast<std::size_t>(step)];
    return known->second;
  }

  TrainOp train_;
  Graph* graph_ = nullptr;
  std::map<std::vector<NodeId>, bool> trains_;  // what was asked before
  std::vector<Tensor> rejoined_;                // to feed the next step with
  std::int64_t serial_ = 0;
};

}  // namespace

HookRef sync_replicas(const TrainOp& train) { return std::make_shared<SyncReplicas>(train); }

}  // namespace actorflow
