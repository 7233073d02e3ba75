// Training by replicas that have all variables: gradients are reduced, then each applies their mean.
#include <algorithm>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/ops/sliced_ops.h"
#include "dataflow/train/gradient_buckets.h"
#include "dataflow/train/gradient_slices.h"
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
  // nothing, so that it can be made again. Of a sharded optimizer that is true of the values only.
  TrainOp add() {
    for (const auto& update : t_.updates) inputs_.emplace_back(update.gradient, !transforms());
    t_.graph.on(t_.worker, [&] {
      if (transforms() || !strategy_.sharded_optimizer) reduce_dense();
      if (transforms()) transform_means();
      if (strategy_.sharded_optimizer) update_slices();
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
  bool transforms() const { return static_cast<bool>(t_.replication.transform); }

  std::string name(const std::string& what) const { return scope_ + "/" + what; }

  // The dense gradients, and their positions among all.
  std::pair<std::vector<Output>, std::vector<std::size_t>> dense() const {
    std::pair<std::vector<Output>, std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i].sparse) {
        all.first.push_back(inputs_[i].outputs[0]);
        all.second.push_back(i);
      }
    return all;
  }

  void reduce_dense() {
    const auto [gradients, owners] = dense();
    const ReducedMeans reduced = reduced_means(gradients, strategy_, scope_);
    for (std::size_t k = 0; k < owners.size(); ++k) inputs_[owners[k]].outputs = {reduced.means[k]};
    ends_ = reduced.ends;
  }

  // Applies the transformation to the means. REQUIRES: all gradients are dense.
  void transform_means() {
    std::vector<GradientAndVariable> means;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      means.push_back({inputs_[i].outputs[0], t_.updates[i].variable});
    means = transformed(t_, means);
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].outputs = {means[i].gradient};
  }

  void update_slices() {
    const auto [gradients, owners] = dense();
    std::vector<Optimizer> optimizers;
    for (const std::size_t i : owners) optimizers.push_back(t_.optimizer.of(t_.updates[i].variable));
    for (const SlicedBucket& bucket : plan_slices(gradients, optimizers, strategy_)) {
      std::vector<Output> together;
      SlicedVariables sliced{{}, static_cast<int>(ranks_.tasks.size()), bucket.borders};
      for (const std::size_t i : bucket.members) {
        together.push_back(gradients[i]);
        sliced.variables.push_back(t_.updates[owners[i]].variable.name());
      }
      const Output values = updated(together, sliced, optimizers[bucket.members[0]]);
      sliced_.emplace_back(slice_attrs(sliced), values);
      ends_.push_back(values);
      for (const std::size_t i : bucket.members) inputs_[owners[i]].outputs.clear();
    }
  }

  // The rank's slice of the mean gradients. A transformation, such as clipping by a norm, needs whole
  // means and the same bits on every rank: then all are reduced before, and this rank cuts its slice.
  Output slice_of_means(const std::vector<Output>& gradients, const SlicedVariables& sliced,
                        const Attrs& attrs, const std::string& bucket) {
    if (transforms()) return t_.graph.add(cut_slices_op(), gradients, attrs);
    std::vector<std::int64_t> elements;
    for (int rank = 0; rank < sliced.ranks; ++rank) elements.push_back(sliced.elements_of_rank(rank));
    return grouped_reduce_scatter(gradients, ranks_, elements, bucket,
                                  mean_over_replicas(strategy_, gradients[0].dtype()));
  }

  // The new values of a bucket's variables, all slices. Whether a gradient is finite is agreed on before
  // the first slot changes.
  Output updated(const std::vector<Output>& gradients, const SlicedVariables& sliced,
                 const Optimizer& optimizer) {
    const std::string bucket = name("bucket_" + std::to_string(sliced_.size()));
    Attrs attrs = slice_attrs(sliced);
    attrs["rank"] = std::int64_t{t_.replication.replica};
    const Output slice = slice_of_means(gradients, sliced, attrs, bucket);
    const Output bad = all_reduce(t_.graph.add(count_not_finite_slices_op(), {slice}, attrs), ranks_,
                                  bucket + "/not_finite");
    std::vector<Output> inputs{slice, bad, t_.global_step.value()};
    if (t_.learning_rate) inputs.push_back(t_.learning_rate);
    attrs.insert({{"ranks", bad.node().attrs.at("ranks")},
                  {"optimizer", optimizer.name()},
                  {"hyperparameters", optimizer.hyperparameters()},
                  {"skip_not_finite", t_.replication.not_finite == NotFinite::skip}});
    return all_gather(t_.graph.add(update_slices_op(), inputs, attrs), ranks_, bucket + "/values");
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
        if (!inputs_[i].outputs.empty()) applied.push_back(apply(t_.updates[i], inputs_[i]));
      for (const auto& [attrs, values] : sliced_)
        applied.push_back(
            t_.graph.on(t_.worker, [&] { return t_.graph.add(assign_slices_op(), {values}, attrs); }));
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
  std::vector<std::pair<Attrs, Output>> sliced_;  // buckets' variables, and their new values
  std::vector<Output> ends_;                      // one of each operation
};

}  // namespace

TrainOp add_training(const Training& t, const AllReduce& strategy) {
  if (strategy.local_steps > 1) return add_local_training(t, strategy);
  return t.graph.name_scope(training_scope, [&] { return AllReducedTraining(t, strategy).add(); });
}

}  // namespace actorflow
