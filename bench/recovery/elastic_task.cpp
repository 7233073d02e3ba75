#include "bench/recovery/elastic_task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <limits>

#include "actors/models/classifiers.h"
#include "actors/strategies/elastic_task.h"
#include "actors/strategies/replica_run.h"
#include "apps/launch/step_report.h"
#include "bench/recovery/recovery_task.h"

namespace actorflow::bench {
namespace {

constexpr std::int64_t inputs = 64, outputs = 10, examples = 16, units = 32;

void write_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

class EndlessProgram final : public ReplicaProgram {
 public:
  ReplicaNodes build(Graph& graph, const Replication& replication) override {
    const Variable step = global_step(graph);
    model_ = make_classifier(graph, mlp({units}, outputs), {inputs});
    const TrainOp train =
        minimize(graph, model_.train.loss, model_.variables.trained(), step, Sgd{0.001}, replication);
    return {.train = train, .loss = model_.train.loss, .fetches = {}, .targets = {}};
  }
  void begin(Session&, std::int64_t) override {}
  Feeds next() override {
    return {{model_.x, Tensor::zeros(DType::float32, {examples, inputs})},
            {model_.labels, Tensor::zeros(DType::int64, {examples})}};
  }
  bool after_step(Session&, std::int64_t global_step, std::span<const Tensor>) override {
    report_step();
    write_line(fmt::format("{} {} {}", step_mark, steady_ns(), global_step));
    return true;
  }

 private:
  Classifier model_;
};

}  // namespace

int run_elastic_recovery_task() {
  write_line(fmt::format("{} {}", process_mark, getpid()));
  report_will_step();
  ServerOptions server;
  server.num_threads = 1;
  ElasticTask task(server);
  static const std::atomic<bool> never = false;
  const auto train = [&](Server& own) {
    EndlessProgram program;
    return run_replica(
        own, program, {.strategy = AllReduce{}, .train_steps = std::numeric_limits<std::int32_t>::max()},
        never, &task);
  };
  task.run(train, never);
  return 0;
}

}  // namespace actorflow::bench
