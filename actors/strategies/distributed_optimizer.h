// Data-parallel training of a graph of one's own, as Horovod's DistributedOptimizer: every task that
// trains has all variables, and the gradients of a step are averaged over the tasks by all-reduce.
//
//   DistributedOptimizer optimizer(server, Adam{0.001}, {.batch_size = 32});
//   g.on(optimizer.device(), [&] {
//     step = global_step(g);
//     loss = model(x, labels);
//     train = optimizer.minimize(g, loss, g.variables(), step);
//   });
//   MonitoredSession session(server, g, optimizer.monitored(train));
//   while (!session.should_stop()) session.run(train.step, next_batch());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/monitored/monitored_session.h"
#include "actors/task/server.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

struct DistributedOptions {
  std::vector<std::string> tasks{};  // the ranks, in order; none: all tasks of the cluster that train
  // Gradients of so many batches are added up by each rank before the ranks average the sums: run
  // DistributedTrainOp::accumulate for all of them but the last, and the step for that one.
  int backward_passes_per_step = 1;
  // The examples of one batch of one rank, for what is logged; 0 = not logged.
  std::int64_t batch_size = 0;
  NotFinite not_finite = NotFinite::fail;
  GradientTransform transform{};  // of the averages, such as clipping; none: they stay as they are
  AllReduce buckets{};            // how gradients travel; its tasks are not looked at
};

struct DistributedTrainOp : TrainOp {
  Output accumulate;  // with several passes per step: run it for each pass but the last
};

// Not thread-safe. REQUIRES: the server outlives this.
class DistributedOptimizer {
 public:
  // Throws invalid_argument if the server's task is not among the ranks.
  DistributedOptimizer(const Server& server, OptimizerChoice optimizer, DistributedOptions options = {});

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(options_.tasks.size()); }
  // The device of the rank's nodes and variables, for Graph::on().
  const std::string& device() const { return options_.tasks[static_cast<std::size_t>(rank_)]; }

  // Adds the gradients, their all-reduce and the updates; a rank's `local_init` gives it all variables
  // that the graph has so far, and their optimizers' slots, as rank 0 has them. The first call logs at
  // rank 0 how many examples a step takes, and the rate: neither is changed silently. Throws as
  // actorflow::minimize() does.
  DistributedTrainOp minimize(Graph& graph, Output loss, const std::vector<Variable>& variables,
                              Variable global_step, Output learning_rate = {});
  // `rate` / size() at first, growing evenly to `rate` over the first epochs: float64 scalar (Goyal et
  // al., Accurate, Large Minibatch SGD, 2017, section 2.2).
  Output warm_up(double rate, Output global_step, std::int64_t steps_per_epoch, double epochs = 5) const;

  // Options of a session that trains with this: rank 0 initialises or restores, saves, and hands its
  // variables to the others; so it does after the loss of a rank.
  MonitoredOptions monitored(const TrainOp& train, MonitoredOptions options = {}) const;

 private:
  std::vector<GradientAndVariable> accumulated(Graph& graph, std::vector<GradientAndVariable> gradients,
                                               DistributedTrainOp& train,
                                               std::vector<Output>& cleared) const;
  void log_once(const std::vector<Variable>& variables, bool has_rate);

  OptimizerChoice optimizer_;
  DistributedOptions options_;
  int rank_;
  bool logged_ = false;
};

}  // namespace actorflow
