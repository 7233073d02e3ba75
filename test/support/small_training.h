// A training that is small enough for tests, under any strategy and executor: a regression with a table,
// two parts of which, and the dense variables, two parameter servers share.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "kernels/ops/embedding.h"

namespace actorflow::test {

struct SmallJob {
  Strategy strategy = Asynchronous{};
  bool has_table = false;  // whose gradients are rows
  Executor executor = Executor::lanes;
  OptimizerChoice optimizer = Adam{0.05};
  std::int64_t steps = 20;
  std::string folder{};  // of checkpoints, one of every ten steps; "" = none
};

// loss = mean((x w + b + the rows of two ids - 1)^2). What is fed follows from the step and the replica
// alone, so that a step that is made again is the same step.
class SmallTraining : public ReplicaProgram {
 public:
  SmallTraining(const Server& server, const SmallJob& job) : job_(job), replica_(server.name().index) {}

  ReplicaNodes build(Graph& g, const Replication& replication) override {
    const Variable step = global_step(g);
    w_ = g.variable("w", g.constant(Tensor::of<float>({3, 1}, {0.5F, -0.25F, 0.125F})));
    b_ = g.variable("b", g.constant(Tensor{0.1F}));
    x_ = g.placeholder(DType::float32, {batch, 3});
    std::vector<Variable> variables{w_, b_};
    Output guess = matmul(x_, w_) + b_.value();
    if (job_.has_table) {
      table_ = partitioned_variable(g, "table", fill(g, {rows, 1}, 0.3F), fixed_size_partitioner(2));
      for (const Variable& part : table_->parts()) variables.push_back(part);
      ids_ = g.placeholder(DType::int64, {batch});
      guess = guess + embedding_lookup(*table_, ids_);
    }
    const Output loss = mean(square(guess - 1.0F));
    return {.train = minimize(g, loss, variables, step, job_.optimizer, replication),
            .loss = loss,
            .fetches = {},
            .targets = {}};
  }
  void prepare(MonitoredOptions& options) override { options.session.executor = job_.executor; }
  void begin(Session&, std::int64_t step) override { step_ = step; }
  Feeds next() override {
    const std::int64_t number = step_++ * 7 + replica_ * 3;
    Tensor x = Tensor::allocate(DType::float32, {batch, 3});
    for (std::int64_t at = 0; float& value : x.mutable_values<float>())
      value = static_cast<float>((number + ++at * 5) % 11) / 8 - 0.5F;
    Feeds feeds{{x_, std::move(x)}};
    if (!job_.has_table) return feeds;
    std::vector<std::int64_t> ids;  // replicas have rows in common, and rows are there twice
    for (std::int64_t at = 0; at < batch; ++at) ids.push_back((number + at * at) % rows);
    feeds.emplace_back(ids_, Tensor::of<std::int64_t>({batch}, ids));
    return feeds;
  }
  bool after_step(Session&, std::int64_t, std::span<const Tensor>) override { return true; }
  void finish(Session& session) override {
    learned = session.run({w_, b_});
    if (table_) learned.push_back(session.run(whole(*table_)));
  }

  // The weights, at the chief, once training is complete.
  std::vector<Tensor> learned;

 private:
  static constexpr std::int64_t batch = 4, rows = 7;

  const SmallJob& job_;
  const int replica_;
  Variable w_, b_;
  std::optional<PartitionedVariable> table_;
  Output x_, ids_;
  std::int64_t step_ = 0;
};

// The tasks of that training, for a LocalCluster or a SimCluster.
template <class Cluster>
std::vector<typename Cluster::Job> small_tasks(const SmallJob& job, int replicas) {
  if (is_all_reduce(job.strategy)) return {{"worker", replicas}};
  return {{"ps", 2}, {"worker", replicas}};
}

inline ReplicaOptions small_options(const SmallJob& job) {
  return {.strategy = job.strategy,
          .train_steps = job.steps,
          .checkpoint_folder = job.folder,
          .save_checkpoint = {.steps = job.folder.empty() ? 0 : 10},
          .mark_end = !job.folder.empty()};
}

// Runs the task of `server` until training is complete. Returns the weights, at the chief.
inline std::vector<Tensor> train_small(Server& server, const SmallJob& job) {
  static const std::atomic<bool> never{false};
  if (server.name().job == "ps")
    return serve_parameters(server, small_options(job)), std::vector<Tensor>();
  SmallTraining program(server, job);
  run_replica(server, program, small_options(job), never);
  return std::move(program.learned);
}

}  // namespace actorflow::test
