// Parameter servers in processes of their own: how fast variables go to a worker and back, against
// copying their bytes, and synchronous training, against the same model in one process.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "actors/actorflow.h"
#include "actors/models/classifiers.h"
#include "apps/training/train_replica.h"
#include "bench/data.h"
#include "bench/harness.h"
#include "bench/program.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replicate.h"
#include "kernels/devices/device.h"

namespace actorflow::bench {
namespace {

// Parameter servers and workers but the first as processes; the first worker is this one's.
class Cluster {
 public:
  Cluster(int num_ps, int num_workers, const std::vector<std::string>& flags)
      : ps_(free_addresses(num_ps)), workers_(free_addresses(num_workers)) {
    for (int i = 0; i < num_ps; ++i) start("ps", i, flags);
    for (int i = 1; i < num_workers; ++i) start("worker", i, flags);
    ServerOptions options;
    options.cluster = ClusterSpec{{"ps", ps_}, {"worker", workers_}};
    options.job = "worker";
    options.num_threads = 1;
    server_ = std::make_unique<Server>(std::move(options));
  }
  ~Cluster() { server_->shutdown_cluster("the benchmark has ended"); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  Server& server() { return *server_; }

 private:
  void start(const std::string& job, int task, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{fmt::format("--ps_hosts={}", fmt::join(ps_, ",")),
                                       fmt::format("--worker_hosts={}", fmt::join(workers_, ",")),
                                       "--job_name=" + job, fmt::format("--task_index={}", task),
                                       "--threads=1"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    processes_.push_back(std::make_unique<Program>("trainer", arguments));
  }

  std::vector<std::string> ps_, workers_;
  std::vector<std::unique_ptr<Program>> processes_;  // waited for after the server has told them to end
  std::unique_ptr<Server> server_;
};

constexpr std::int64_t num_variables = 100;

// Gigabytes per second of pulling variables of a parameter server and pushing as much to it as
// gradients.
double push_and_pull(std::int64_t elements, int rounds) {
  Cluster cluster(1, 1, {});
  Graph g;
  std::vector<Output> pulled, pushed;
  for (std::int64_t i = 0; i < num_variables; ++i) {
    const auto variable = [&](const char* device, const char* kind) {
      return g.on(device,
                  [&] { return g.variable(fmt::format("{}/{}", kind, i), fill(g, {elements}, 0)); });
    };
    const Variable weights = variable("/job:ps/task:0", "weights");
    const Variable gradient = variable("/job:worker/task:0", "gradient");
    pulled.push_back(g.on("/job:worker/task:0", [&] { return g.group({weights.value()}); }));
    pushed.push_back(g.on("/job:ps/task:0", [&] {
      return g.add(apply_gradient_op(), {gradient.value(), g.constant(std::int64_t{-1})},
                   {{"variable", weights.name()},
                    {"replica", std::int64_t{0}},
                    {"train_op", "push"},
                    {"skip_not_finite", false},
                    {"optimizer", std::string("sgd")},
                    {"hyperparameters", std::vector<double>{0.1}}});
    }));
  }
  const Output pull = g.group(pulled, "pull"), push = g.group(pushed, "push");
  Session session(cluster.server().target(), g);
  session.initialize_variables();
  const auto run = [&] {
    session.run({}, {}, {pull});
    session.run({}, {}, {push});
  };
  for (int i = 0; i < 3; ++i) run();
  const double bytes = 2.0 * static_cast<double>(num_variables * elements) * sizeof(float);
  return rounds * bytes / 1e9 / seconds_of([&] {
           for (int i = 0; i < rounds; ++i) run();
         });
}

// Of copying the same bytes in one thread.
double copy(std::int64_t elements, int rounds) {
  const auto size = static_cast<std::size_t>(2 * num_variables * elements) * sizeof(float);
  const BufferRef from = cpu_device().allocator().allocate(size);
  const BufferRef to = cpu_device().allocator().allocate(size);
  std::memset(from->data(), 1, size);
  const auto run = [&] { std::memcpy(to->data(), from->data(), size); };
  run();
  return rounds * static_cast<double>(size) / 1e9 / seconds_of([&] {
           for (int i = 0; i < rounds; ++i) run();
         });
}

Measurement shard(bool quick) {
  const std::int64_t elements = quick ? 1000 : 100'000;
  const int rounds = quick ? 2 : 20;
  return in_turn(
      3, [&] { return push_and_pull(elements, rounds); }, [&] { return copy(elements, rounds); });
}

constexpr std::int64_t batch = 128;
const std::vector<std::int64_t> hidden{1024, 1024};
const Sgd sgd{.learning_rate = 0.1};

// Thousand examples per second of synchronous training in four processes.
double four_processes(std::int64_t steps) {
  TrainOptions options;
  options.model.settings = {{"hidden", "1024,1024"}};
  options.optimizer = sgd;
  options.batch_size = batch;
  options.train_steps = steps;
  options.strategy = Synchronous{};
  Cluster cluster(
      2, 2,
      {"--hidden=1024,1024", "--optimizer=sgd", fmt::format("--learning_rate={}", sgd.learning_rate),
       fmt::format("--batch_size={}", batch), fmt::format("--train_steps={}", steps),
       "--sync_replicas"});
  const std::atomic<bool> interrupted = false;
  return train_replica(cluster.server(), labelled(mnist()), options, interrupted, nullptr)->examples_per_second /
         1e3;
}

// Of the same model in a session of this process.
double one_process(int threads, int steps) {
  Graph g;
  const Variable step = global_step(g);
  const Classifier model = make_classifier(g, mlp(hidden), mnist().train.image());
  const TrainOp train = minimize(g, model.train.loss, model.variables.trained(), step, sgd);
  LocalCluster cluster({{"local", 1}}, threads);
  Session session(cluster.server("local", 0).target(), g);
  session.initialize_variables();
  DatasetIterator batches(cluster.server("local", 0), labelled(mnist()).training_batches({.size = batch}));
  const auto run = [&] {
    const Tuple next = batches.next();
    session.run({train.step, model.train.loss}, {{model.x, next[0]}, {model.labels, next[1]}});
  };
  for (int i = 0; i < 3; ++i) run();
  return static_cast<double>(steps * batch) / 1e3 / seconds_of([&] {
           for (int i = 0; i < steps; ++i) run();
         });
}

Measurement four_processes_against_one(bool quick) {
  const int steps = quick ? 2 : 300;
  return in_turn(
      quick ? 1 : 3, [&] { return four_processes(steps); }, [&] { return one_process(2, steps); });
}

}  // namespace

std::vector<Benchmark> parameter_server_benchmarks() {
  return {
      {"parameter_servers/push_and_pull_10_million", "GB/s", "memcpy, one thread", at_least(0.4), shard},
      {"parameter_servers/2_ps_2_workers_784_1024_1024_10", "kimg/s", "one process, 2 threads",
       at_least(0.7), four_processes_against_one},
  };
}

}  // namespace actorflow::bench
