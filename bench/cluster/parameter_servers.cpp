// Parameter servers in processes of their own: how fast variables go to a worker and back, against
// copying their bytes, and training, against the same tasks in one process, TensorFlow's parameter
// servers and PyTorch's data-parallel training.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>

#include "actors/actorflow.h"
#include "apps/training/train_locally.h"
#include "apps/training/train_replica.h"
#include "bench/data.h"
#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "bench/program.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/strategy.h"
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

// Gigabytes per second of copying the same bytes in one thread.
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
      quick ? 1 : 3, [&] { return push_and_pull(elements, rounds); },
      [&] { return copy(elements, rounds); });
}

// Training of a perceptron by stochastic gradient descent, by 2 parameter servers and 2 workers.
struct Job {
  std::string hidden;  // as flags say it
  std::string name_in_scripts;
  std::int64_t batch = 0;
  Strategy strategy;
  std::int64_t steps = 0;
};
constexpr double learning_rate = 0.1;

TrainOptions options_of(const Job& job, std::int64_t steps) {
  TrainOptions options;
  options.model.settings = {{"hidden", job.hidden}};
  options.optimizer = Sgd{.learning_rate = learning_rate};
  options.batch_size = job.batch;
  options.train_steps = steps;
  options.strategy = job.strategy;
  return options;
}

// Thousand examples per second of four processes.
double four_processes(const Job& job, std::int64_t steps) {
  std::vector<std::string> flags{
      "--hidden=" + job.hidden, "--optimizer=sgd", fmt::format("--learning_rate={}", learning_rate),
      fmt::format("--batch_size={}", job.batch), fmt::format("--train_steps={}", steps)};
  if (is_synchronous(job.strategy)) flags.emplace_back("--sync_replicas");
  Cluster cluster(2, 2, flags);
  const std::atomic<bool> interrupted = false;
  const auto report =
      train_replica(cluster.server(), labelled(mnist()), options_of(job, steps), interrupted, nullptr);
  return report->examples_per_second / 1e3;
}

// The same tasks in this process, which has a thread for each core.
double one_process(const Job& job, std::int64_t steps) {
  const std::atomic<bool> interrupted = false;
  const auto report = train_locally(2, 2, labelled(mnist()), options_of(job, steps), interrupted,
                                    nullptr, [](const auto&) {});
  return report->examples_per_second / 1e3;
}

// The same of a framework: from its steps per second, of which a synchronous one takes two batches.
double examples_of_steps(const Job& job, double steps_per_second) {
  const int batches = is_synchronous(job.strategy) ? 2 : 1;
  return steps_per_second * static_cast<double>(batches * job.batch) / 1e3;
}

double tensorflow_servers(const Job& job, bool quick) {
  return examples_of_steps(
      job, tensorflow_ps_steps_per_second(job.name_in_scripts, is_synchronous(job.strategy), quick));
}

double ddp_ranks(const Job& job, bool quick) {
  return examples_of_steps(job, ddp_steps_per_second(job.name_in_scripts, quick));
}

std::int64_t steps_of(const Job& job, bool quick) { return quick ? 4 : job.steps; }

std::function<Measurement(bool)> processes_beside_one(const Job& job) {
  return [job](bool quick) {
    const std::int64_t steps = steps_of(job, quick);
    return in_turn(
        quick ? 1 : 3, [&] { return four_processes(job, steps); },
        [&] { return one_process(job, steps); });
  };
}

std::function<Measurement(bool)> processes_beside(double (*peer)(const Job&, bool), const Job& job) {
  return [peer, job](bool quick) {
    return in_turn(
        quick ? 1 : 3, [&] { return four_processes(job, steps_of(job, quick)); },
        [&] { return peer(job, quick); });
  };
}

const Job small_synchronous{"128", "mlp-128", 64, Synchronous{}, 3000};
const Job small_asynchronous{"128", "mlp-128", 64, Asynchronous{}, 8000};
const Job large_synchronous{"1024,1024", "mlp-1024", 128, Synchronous{}, 300};

}  // namespace

std::vector<Benchmark> parameter_server_benchmarks() {
  return {
      {"parameter_servers/push_and_pull_10_million", "GB/s", "memcpy, one thread", at_least(0.4), shard},
      {"parameter_servers/2_ps_2_workers_784_128_10", "kimg/s", "the same tasks in one process",
       at_least(0.7), processes_beside_one(small_synchronous)},
      {"parameter_servers/2_ps_2_workers_784_128_10_async", "kimg/s", "the same tasks in one process",
       at_least(0.7), processes_beside_one(small_asynchronous)},
      {"parameter_servers/2_ps_2_workers_784_1024_1024_10", "kimg/s", "the same tasks in one process",
       at_least(0.8), processes_beside_one(large_synchronous)},
      {"parameter_servers/2_ps_2_workers_784_128_10_vs_tensorflow", "kimg/s",
       "TensorFlow, as many processes", at_least(8),
       processes_beside(tensorflow_servers, small_synchronous)},
      {"parameter_servers/2_ps_2_workers_784_128_10_async_vs_tensorflow", "kimg/s",
       "TensorFlow, as many processes", at_least(8),
       processes_beside(tensorflow_servers, small_asynchronous)},
      {"parameter_servers/2_ps_2_workers_784_1024_1024_10_vs_tensorflow", "kimg/s",
       "TensorFlow, as many processes", at_least(6),
       processes_beside(tensorflow_servers, large_synchronous)},
      {"parameter_servers/2_ps_2_workers_784_128_10_vs_ddp", "kimg/s", "PyTorch's DDP, two processes",
       at_least(2.5), processes_beside(ddp_ranks, small_synchronous)},
      {"parameter_servers/2_ps_2_workers_784_1024_1024_10_vs_ddp", "kimg/s",
       "PyTorch's DDP, two processes", at_least(2), processes_beside(ddp_ranks, large_synchronous)},
  };
}

}  // namespace actorflow::bench
