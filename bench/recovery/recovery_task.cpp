#include "bench/recovery/recovery_task.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include "actors/actorflow.h"
#include "actors/checkpoint/start_number.h"
#include "actors/models/classifiers.h"
#include "dataflow/train/replicate.h"
#include "schema/cluster_json.h"

namespace actorflow::bench {
namespace {

constexpr std::int64_t pixels = 64, classes = 10, batch = 16, hidden = 32;

// Whoever reads the lines has to have them at once.
void write_line(char mark, const std::string& text) {
  fmt::print("{} {} {}\n", mark, steady_ns(), text);
  std::fflush(stdout);
}

class TimedWarnings final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level < spdlog::level::warn) return;
    write_line(warning_mark, std::string(message.payload.data(), message.payload.size()));
  }
  void flush_() override {}
};

ServerOptions server_options(const TaskConfig& config, const RecoveryOptions& options) {
  ServerOptions server;
  server.cluster = config.cluster;
  server.job = config.task.job;
  server.task = config.task.index;
  server.num_threads = 1;
  server.insecure = options.insecure;
  server.heartbeat_timeout_ms = options.heartbeat_timeout_ms;
  server.start_number = take_start_number(posix_storage(), options.checkpoints, config.task);
  return server;
}

struct Model {
  Graph g;
  Classifier mlp;
  TrainOp train;

  Model(const TaskConfig& config, bool sync) {
    const int servers = config.cluster.num_tasks("ps");
    g.on(replica_device_setter(servers, "ps", config.task.to_string()), [&] {
      const Variable step = global_step(g);
      mlp = make_classifier(g, actorflow::mlp({hidden}, classes), {pixels});
      train = minimize(g, mlp.train.loss, mlp.variables.trained(), step, Sgd{0.001},
                       {.replica = config.replica,
                        .replicas = config.num_replicas(),
                        .strategy = sync ? Strategy(Synchronous{}) : Strategy(Asynchronous{})});
    });
  }
};

void train(Server& server, const TaskConfig& config, const RecoveryOptions& options) {
  Model model(config, options.sync);
  MonitoredOptions monitored;
  monitored.is_chief = config.is_chief();
  monitored.chief = config.chief();
  monitored.checkpoint_dir = options.checkpoints;
  monitored.save_checkpoint = {0, options.save_secs};
  monitored.log_step_count_steps = 0;
  monitored.hooks = {sync_replicas(model.train)};
  MonitoredSession session(server, model.g, monitored);
  const Feeds feeds{{model.mlp.x, Tensor::zeros(DType::float32, {batch, pixels})},
                    {model.mlp.labels, Tensor::zeros(DType::int64, {batch})}};
  while (!session.should_stop()) {
    const auto step = session.run(std::vector<Output>{model.train.step}, feeds);
    if (!step.empty()) write_line(step_mark, std::to_string(step[0].scalar<std::int64_t>()));
  }
}

}  // namespace

std::int64_t steady_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int run_recovery_task(const std::string& tf_config, const RecoveryOptions& options) {
  spdlog::default_logger()->sinks() = {std::make_shared<TimedWarnings>()};
  const TaskConfig config = parse_tf_config(tf_config);
  Server server(server_options(config, options));
  if (config.replica < 0)
    server.join();
  else
    train(server, config, options);
  check_not_replaced(server);
  return 0;
}

}  // namespace actorflow::bench
