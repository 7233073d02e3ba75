// One rank of data-parallel training on the CPU, as a process of bench/cluster/data_parallel.cpp.
//
//   data_parallel --hosts localhost:2222,localhost:2223 --rank 0 --model resnet20 --steps 100
//   data_parallel --hosts localhost:2222,localhost:2223 --rank 1 --model resnet20 --steps 100
//
// Rank 0 prints the steps per second without the first ones. Fails unless the weights have the same bits
// on all ranks at the end, though each rank has learned from images of its own.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/actorflow.h"
#include "actors/checkpoint/checkpoint.h"
#include "actors/models/classifiers.h"
#include "actors/strategies/replica_run.h"
#include "apps/cli/program.h"
#include "bench/data.h"
#include "dataflow/train/replicate.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/error.h"

using namespace actorflow;

namespace {

struct Options {
  std::string hosts, model;
  int rank = 0;
  std::int64_t steps = 0;  // that are timed
};
constexpr std::int64_t warm_up = 8;  // steps before

struct Workload {
  Architecture architecture;
  Shape image;
  std::int64_t batch = 0;  // of a rank
};

const std::map<std::string, Workload>& workloads() {
  static const std::map<std::string, Workload> all{{"mlp-128", {mlp({128}), {784}, 64}},
                                                   {"mlp-1024", {mlp({1024, 1024}), {784}, 128}},
                                                   {"resnet20", {resnet20(), {32, 32, 3}, 64}}};
  return all;
}

// Other ones for each number.
Tensor images_of(const Workload& workload, int number) {
  Shape shape{workload.batch};
  for (const std::int64_t size : workload.image.dims()) shape.push_back(size);
  return bench::random_numbers(shape, static_cast<float>(number) / 64 - 0.5F);
}

Tensor labels_of(const Workload& workload, int number) {
  Tensor tensor = Tensor::allocate(DType::int64, {workload.batch});
  std::int64_t next = number;
  for (std::int64_t& label : tensor.mutable_values<std::int64_t>()) label = next++ % 10;
  return tensor;
}

class DataParallel final : public ReplicaProgram {
 public:
  DataParallel(Server& server, const Workload& workload, const Options& options)
      : server_(server), workload_(workload), last_step_(warm_up + options.steps) {
    for (int i = 0; i < num_batches; ++i) {
      const int number = options.rank * num_batches + i;
      batches_.push_back({images_of(workload, number), labels_of(workload, number)});
    }
  }

  ReplicaNodes build(Graph& graph, const Replication& replication) override {
    const Variable step = global_step(graph);
    classifier_ = make_classifier(graph, workload_.architecture, workload_.image);
    const TrainOp train = minimize(graph, classifier_.train.loss, classifier_.variables.trained(), step,
                                   Sgd{.learning_rate = 1e-3}, replication);
    ReplicaNodes nodes{.train = train, .loss = classifier_.train.loss, .fetches = {}, .targets = {}};
    // Moving averages are those of the first rank's images.
    if (replication.replica == 0) nodes.targets = with_step(train, classifier_.updates);
    return nodes;
  }

  void begin(Session&, std::int64_t step) override { next_ = step; }

  Feeds next() override {
    const Batch& batch = batches_[static_cast<std::size_t>(next_++ % num_batches)];
    return {{classifier_.x, batch.images}, {classifier_.labels, batch.labels}};
  }

  bool after_step(Session&, std::int64_t step, std::span<const Tensor>) override {
    if (step == warm_up) start_ = Clock::now();
    if (step == last_step_) seconds_ = std::chrono::duration<double>(Clock::now() - start_).count();
    return true;
  }

  void on_last_step(Session& session) override {
    const auto variables = classifier_.variables.trained();
    const auto values = session.run({variables.begin(), variables.end()});
    std::map<std::string, Tensor> weights;
    for (std::size_t i = 0; i < values.size(); ++i) weights[variables[i].name()] = values[i];
    expect_equal_on_all_ranks(static_cast<std::int64_t>(hash_of(weights)));
  }

  double steps_per_second() const { return static_cast<double>(last_step_ - warm_up) / seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Batch {
    Tensor images, labels;
  };
  static constexpr int num_batches = 16;

  void expect_equal_on_all_ranks(std::int64_t hash) const {
    Tensor own = Tensor::allocate(DType::int64, {1});
    own.mutable_values<std::int64_t>()[0] = hash;
    const Tensor all = Communicator(server_, {.group = "hashes"}).all_gather(own);
    for (const std::int64_t other : all.values<std::int64_t>())
      if (other != hash) throw Error(Code::data_loss, "the ranks have different weights");
  }

  Server& server_;
  const Workload& workload_;
  std::int64_t last_step_ = 0, next_ = 0;
  std::vector<Batch> batches_;
  Classifier classifier_;
  Clock::time_point start_;
  double seconds_ = 0;
};

void run_rank(const Options& options) {
  ServerOptions of_server;
  of_server.cluster = ClusterSpec{{"worker", ClusterSpec::parse_hosts("--hosts", options.hosts)}};
  of_server.job = "worker";
  of_server.task = options.rank;
  of_server.num_threads = 1;
  Server server(std::move(of_server));
  DataParallel program(server, workloads().at(options.model), options);
  const std::atomic<bool> interrupted = false;
  run_replica(server, program,
              {.strategy = AllReduce{}, .train_steps = warm_up + options.steps, .ps_job = "worker"},
              interrupted);
  if (options.rank == 0) fmt::print("{}\n", program.steps_per_second());
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("One rank of data-parallel training on the CPU", "data_parallel");
  Options options;
  program.option("--hosts", options.hosts, "Addresses of the ranks").required();
  program.option("--rank", options.rank, "The number of this rank").check(in_range(0, 99));
  program.option("--model", options.model, "What is trained").required().check(one_of(workloads()));
  program.option("--steps", options.steps, "How many steps are timed").check(in_range(1, 1'000'000));
  return run_program(program, argc, argv, [&] {
    run_rank(options);
    return success;
  });
}
