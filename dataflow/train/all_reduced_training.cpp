// Training by replicas that have all variables: gradients are reduced, then each applies their mean.
#include <algorithm>

#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/train/gradient_buckets.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

class AllReducedTraining {
 public:
  AllReducedTraining(const Training& t, const AllReduce& strategy)
      : t_(t),
        strategy_(strategy),
        ranks_{strategy.tasks, GroupLife::continues},
        scope_(t.global_step.name()) {}

  // Nothing is updated before all has been reduced: a step that fails because a rank is lost has changed
  // nothing, so that it can be made again.
  TrainOp add() {
    for (const auto& update : t_.updates) inputs_.emplace_back(update.gradient);
    t_.graph.on(t_.worker, [&] {
      reduce_dense();
      gather_rows();
    });
    TrainOp train;
    train.agreed = ends_;
    train.step = t_.graph.after(apply_all(), [&] {
      const Output one =
          t_.graph.on(t_.global_step.device(), [&] { return t_.graph.constant(std::int64_t{1}); });
      return t_.graph.assign_add(t_.global_step, one, "count_step");
    });
    train.local_step = t_.global_step;
    return train;
  }

 private:
  std::string name(const std::string& what) const { return scope_ + "/" + what; }

  void reduce_dense() {
    std::vector<Output> gradients;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i].sparse) {
        gradients.push_back(inputs_[i].outputs[0]);
        owners.push_back(i);
      }
    int number = 0;
    for (const auto& bucket : plan_buckets(gradients, strategy_)) {
      std::vector<Output> together;
      for (const std::size_t i : bucket) together.push_back(gradients[i]);
      const auto means = all_reduce(together, ranks_, name("bucket_" + std::to_string(number++)),
                                    {.reduction = ReduceOp::average});
      for (std::size_t k = 0; k < bucket.size(); ++k) inputs_[owners[bucket[k]]].outputs = {means[k]};
      ends_.push_back(means[0]);
    }
  }

  // The rows of all ranks, one rank's after the other's.
  void gather_rows() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].sparse) continue;
      std::vector<Output> gathered;
      for (std::size_t part = 0; part < inputs_[i].outputs.size(); part += 2) {
        const std::string of = name(t_.updates[i].variable.name() + "/" + std::to_string(part / 2));
        const Output values = all_gather(inputs_[i].outputs[part], ranks_, of + "/values");
        const Output indices = all_gather(inputs_[i].outputs[part + 1], ranks_, of + "/indices");
        gathered.insert(gathered.end(), {values, indices, indices.output(1)});
        ends_.insert(ends_.end(), {values, indices});
      }
      inputs_[i].outputs = std::move(gathered);
    }
  }

  std::vector<Output> apply_all() {
    return t_.graph.after(ends_, [&] {
      std::vector<Output> applied;
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        applied.push_back(apply(t_.updates[i], inputs_[i]));
      return applied;
    });
  }

  Output apply(const GradientAndVariable& update, const GradientInputs& mean) {
    std::vector<Output> inputs = mean.outputs;
    if (t_.learning_rate) inputs.push_back(t_.learning_rate);
    const std::string device = update.variable.device();  // a copy: the graph grows
    return t_.graph.on(device, [&] {
      return t_.graph.add(mean.sparse ? apply_gathered_gradient_op() : apply_reduced_gradient_op(),
                          inputs, update_attrs(t_, update.variable), beside(update, "apply"));
    });
  }

  const Training& t_;
  const AllReduce& strategy_;
  const RankList ranks_;
  const std::string scope_;  // of the collective operations' names
  std::vector<GradientInputs> inputs_;
  std::vector<Output> ends_;  // one of each operation
};

}  // namespace

TrainOp add_training(const Training& t, const AllReduce& strategy) {
  return t.graph.name_scope(training_scope, [&] { return AllReducedTraining(t, strategy).add(); });
}

}  // namespace actorflow
