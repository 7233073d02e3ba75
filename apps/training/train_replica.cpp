#include "apps/training/train_replica.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "actors/checkpoint.h"
#include "actors/input/dataset_iterator.h"
#include "actors/saver.h"
#include "actors/session.h"
#include "apps/training/mlp.h"
#include "dataflow/error.h"
#include "dataflow/replica_device_setter.h"
#include "dataflow/replicate.h"
#include "dataflow/training_ops.h"

namespace actorflow {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

const TaskName chief{"worker", 0};

// The graph of one replica.
struct ReplicaGraph {
  Graph graph;
  Mlp model;
  Variable global_step;
  TrainOp train;
  Output greeting;               // does nothing, on the chief
  Output staleness;              // float64 [3]: steps, mean, maximum
  std::vector<Variable> shared;  // by all replicas
  std::optional<Saver> saver;    // of the shared variables
};

std::unique_ptr<ReplicaGraph> build(const Server& server, const Mnist& data,
                                    const TrainOptions& options) {
  auto built = std::make_unique<ReplicaGraph>();
  ReplicaGraph& g = *built;
  const TaskName& self = server.name();
  const int replicas = server.cluster().num_tasks("worker");
  // More gradients than replicas: somebody has to make a second one before the first step can end.
  const Replication replication{.replica = self.index,
                                .replicas = replicas,
                                .sync = options.sync,
                                .replicas_to_aggregate = options.replicas_to_aggregate,
                                .initial_tokens = std::max(0, options.replicas_to_aggregate - replicas),
                                .staleness_bound = options.staleness_bound};
  const int ps_tasks = server.cluster().num_tasks("ps");
  const PsStrategy strategy =
      ps_tasks > 0 ? make_ps_strategy(options.ps_strategy, ps_tasks) : PsStrategy();
  g.graph.on(replica_device_setter(ps_tasks, "ps", self.to_string(), strategy), [&] {
    g.global_step = global_step(g.graph);
    g.model = make_mlp(g.graph, data.train.pixels(), options.hidden, data.train.classes, options.seed);
    g.train = minimize(g.graph, g.model.loss, g.model.variables, g.global_step, options.optimizer,
                       replication);
    g.staleness = g.graph.on(g.global_step.device(), [&] {
      return g.graph.add(staleness_op(), {}, {{"variable", g.global_step.name()}});
    });
    g.greeting = g.graph.on(chief.to_string(), [&] { return g.graph.group({}, "greeting"); });
    g.shared = g.model.variables;
    g.shared.push_back(g.global_step);
    g.saver.emplace(g.graph, g.shared, g.global_step);
  });
  return built;
}

class Replica {
 public:
  Replica(Server& server, const Mnist& data, const TrainOptions& options,
          const std::atomic<bool>& interrupted, Progress* progress)
      : server_(server),
        data_(data),
        options_(options),
        interrupted_(interrupted),
        progress_(progress),
        g_(build(server, data, options)),
        session_(server.target(), g_->graph, {}, options.connect_timeout_ms),
        watcher_([this] {
          server_.join();
          session_.close();
        }) {}
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  ~Replica() { server_.stop("the replica has ended"); }

  std::optional<TrainReport> run();

 private:
  std::optional<TrainReport> run_chief();
  void run_worker();
  bool is_end_of_job(const Error& error) const;
  bool is_chief() const { return server_.name() == chief; }
  int replicas() const { return server_.cluster().num_tasks("worker"); }
  std::vector<std::string> missing_variables();
  void restore_or_initialize();
  bool wait_for_chief();
  Meter train();
  double step(const Tuple& batch, Meter& meter);
  void wait_for_others();
  double test_accuracy();
  TrainReport report(const Meter& meter);
  std::vector<std::int64_t> dropped_gradients();
  void save();

  Server& server_;
  const Mnist& data_;
  const TrainOptions& options_;
  const std::atomic<bool>& interrupted_;
  Progress* progress_;
  std::unique_ptr<ReplicaGraph> g_;
  Session session_;
  std::jthread watcher_;  // cancels a step that waits in vain when the job is over
};

std::optional<TrainReport> Replica::run() {
  try {
    if (is_chief()) return run_chief();
    run_worker();
  } catch (const Error& error) {
    if (!is_end_of_job(error)) throw;
    if (is_chief()) server_.shutdown_cluster("the chief was interrupted");
  }
  return std::nullopt;
}

// Whether an error of a step only says that the replica was told to leave: the servers that it talks to
// may be gone a moment before their Shutdown arrives here.
bool Replica::is_end_of_job(const Error& error) const {
  if (!is_derived(error.code()) && error.code() != Code::unavailable) return false;
  if (is_chief()) return interrupted_;
  const auto end = Clock::now() + std::chrono::seconds(2);
  while (!server_.stopping() && Clock::now() < end) std::this_thread::sleep_for(milliseconds(10));
  return server_.stopping();
}

std::optional<TrainReport> Replica::run_chief() {
  restore_or_initialize();
  const Meter meter = train();
  if (interrupted_) {
    save();
    server_.shutdown_cluster("the chief was interrupted");
    return std::nullopt;
  }
  wait_for_others();
  const TrainReport result = report(meter);
  save();
  server_.shutdown_cluster("training is complete");
  return result;
}

void Replica::run_worker() {
  if (!wait_for_chief()) return;
  // From this step on there is a link to the chief, which sees it close if this replica is lost.
  session_.run({}, {}, {g_->greeting});
  train();
  server_.announce_done(chief);
  server_.join();
}

// The shared variables without a value.
std::vector<std::string> Replica::missing_variables() {
  auto missing = session_.uninitialized_variables();
  std::erase_if(missing, [this](const std::string& name) {
    return std::ranges::find(g_->shared, name, &Variable::name) == g_->shared.end();
  });
  return missing;
}

// A chief that comes back to parameter servers that are still there goes on with their values.
void Replica::restore_or_initialize() {
  if (missing_variables().empty()) return;
  if (!options_.checkpoint_folder.empty()) {
    const auto step = g_->saver->restore(session_, posix_storage(), options_.checkpoint_folder);
    if (step) {
      spdlog::info("restored step {} from {}", *step, options_.checkpoint_folder);
      return;
    }
  }
  session_.initialize_variables();
}

// Returns false if the job was over before it began.
bool Replica::wait_for_chief() {
  const auto began = Clock::now();
  const auto end = began + milliseconds(options_.connect_timeout_ms);
  auto next_message = began + std::chrono::seconds(2);
  for (auto missing = missing_variables(); !missing.empty(); missing = missing_variables()) {
    if (server_.stopping() || interrupted_) return false;
    const auto now = Clock::now();
    const std::string awaited =
        fmt::format("{} waits for the chief, {} at {}, to initialise {} variables ('{}', ...)",
                    server_.name().to_string(), chief.to_string(), server_.cluster().address(chief),
                    missing.size(), missing.front());
    if (now >= end)
      throw Error(Code::deadline_exceeded,
                  fmt::format("{}, and gave up after {} s; start the chief or raise --connect_timeout",
                              awaited, options_.connect_timeout_ms / 1000));
    if (now >= next_message) {
      spdlog::info("{}, since {} s", awaited,
                   std::chrono::duration_cast<std::chrono::seconds>(now - began).count());
      next_message = now + std::chrono::seconds(5);
    }
    std::this_thread::sleep_for(milliseconds(50));
  }
  return true;
}

Meter Replica::train() {
  if (g_->train.local_init) session_.run({}, {}, {g_->train.local_init});
  const auto start = session_.run(g_->train.local_step).scalar<std::int64_t>();
  const std::int64_t batches_per_step = options_.sync ? replicas() : 1;
  Meter meter(start, options_.train_steps, options_.batch_size * batches_per_step);
  DatasetIterator batches(server_, training_batches(data_.train, options_.batch_size, options_.seed)
                                       .skip(start * batches_per_step)
                                       .shard(replicas(), server_.name().index)
                                       .prefetch(1));
  while (meter.step() < options_.train_steps && !(is_chief() && interrupted_)) {
    const double loss = step(batches.next(), meter);
    if (!std::isfinite(loss))
      throw Error(Code::out_of_range,
                  fmt::format("the loss is {} at step {}; lower the learning rate", loss, meter.step()));
    if (progress_) progress_->update(meter);
  }
  if (g_->train.leave) session_.run({}, {}, {g_->train.leave});
  if (progress_) progress_->finish(meter);
  return meter;
}

double Replica::step(const Tuple& batch, Meter& meter) {
  const auto results = session_.run({g_->train.step, g_->model.loss, g_->model.accuracy},
                                    {{g_->model.x, batch[0]}, {g_->model.labels, batch[1]}});
  const double loss = results[1].scalar<float>();
  meter.record(results[0].scalar<std::int64_t>(), loss, results[2].scalar<float>());
  return loss;
}

void Replica::wait_for_others() {
  std::vector<TaskName> others;
  for (int i = 1; i < replicas(); ++i) others.push_back({"worker", i});
  constexpr std::int64_t patience_ms = 2000;
  for (const auto& missing : server_.wait_until_done(others, patience_ms))
    spdlog::info("waiting for {} to finish its part", missing.to_string());
  for (const auto& missing : server_.wait_until_done(others, options_.connect_timeout_ms))
    spdlog::warn("{} has not finished its part; leaving without it", missing.to_string());
}

double Replica::test_accuracy() {
  constexpr std::int64_t chunk = 1000;
  std::int64_t correct = 0;
  for (std::int64_t first = 0; first < data_.test.count(); first += chunk) {
    const auto size = std::min(chunk, data_.test.count() - first);
    const Batch batch = consecutive_examples(data_.test, first, size);
    const Tensor share =
        session_.run(g_->model.accuracy, {{g_->model.x, batch.x}, {g_->model.labels, batch.labels}});
    correct += std::llround(share.scalar<float>() * static_cast<double>(size));
  }
  return static_cast<double>(correct) / static_cast<double>(data_.test.count());
}

TrainReport Replica::report(const Meter& meter) {
  std::map<std::string, Tensor> weights;
  const std::vector<Output> fetches(g_->model.variables.begin(), g_->model.variables.end());
  const auto values = session_.run(fetches);
  for (std::size_t i = 0; i < values.size(); ++i) weights[g_->model.variables[i].name()] = values[i];
  const Tensor staleness = session_.run(g_->staleness);
  return {.test_accuracy = test_accuracy(),
          .loss = meter.loss(),
          .global_step = session_.run(g_->global_step).scalar<std::int64_t>(),
          .examples_per_second = meter.examples_per_second(),
          .train_seconds = meter.seconds(),
          .mode = options_.sync ? "sync" : "async",
          .staleness_mean = staleness.values<double>()[1],
          .staleness_max = staleness.values<double>()[2],
          .max_lead = g_->train.max_lead ? session_.run(g_->train.max_lead).scalar<std::int64_t>() : 0,
          .dropped_gradients = dropped_gradients(),
          .weights_hash = hash_of(weights)};
}

// Of each replica, those that came too late for their step, of all variables.
std::vector<std::int64_t> Replica::dropped_gradients() {
  std::vector<std::int64_t> dropped(static_cast<std::size_t>(replicas()), 0);
  for (const auto& counts : session_.run(g_->train.gradient_counts)) {
    const auto values = counts.values<std::int64_t>();
    for (std::size_t replica = 0; replica < dropped.size(); ++replica)
      dropped[replica] += values[3 * replica + 1];
  }
  return dropped;
}

void Replica::save() {
  if (options_.checkpoint_folder.empty()) return;
  spdlog::info("saved {}", g_->saver->save(session_, posix_storage(), options_.checkpoint_folder));
}

}  // namespace

std::int64_t steps_for_epochs(double epochs, std::int64_t examples, const TrainOptions& options,
                              int workers) {
  const auto per_step = static_cast<double>(options.batch_size * (options.sync ? workers : 1));
  return std::max<std::int64_t>(1, std::llround(epochs * static_cast<double>(examples) / per_step));
}

std::optional<TrainReport> train_replica(Server& server, const Mnist& data, const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress) {
  try {
    return Replica(server, data, options, interrupted, progress).run();
  } catch (const Error& error) {
    if (server.name() == chief)
      server.shutdown_cluster(std::string("the chief failed: ") + error.what());
    throw;
  }
}

}  // namespace actorflow
