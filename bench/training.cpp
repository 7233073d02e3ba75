// Training: a step of a multi-layer perceptron on MNIST against its matrix products alone, and two
// workers with a core each against one.
#include <atomic>
#include <future>
#include <optional>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/training/mlp.h"
#include "apps/training/train_replica.h"
#include "bench/harness.h"
#include "dataflow/replicate.h"
#include "kernels/device.h"
#include "kernels/onednn_matmul.h"

namespace actorflow::bench {
namespace {

const Mnist& mnist() {
  static const Mnist data = load_mnist(default_data_folder());
  return data;
}

// Sizes of the layers of a perceptron, the images' first and the classes last, and of its batch.
struct Model {
  std::vector<std::int64_t> layers;
  std::int64_t batch;
};

// Steps per second of a session in one process with one thread: forward, backward and update.
double training_steps(const Model& model, int steps) {
  Graph g;
  const Variable step = global_step(g);
  const std::vector<std::int64_t> hidden(model.layers.begin() + 1, model.layers.end() - 1);
  const Mlp mlp = make_mlp(g, model.layers.front(), hidden, model.layers.back(), 1);
  const TrainOp train = minimize(g, mlp.loss, mlp.variables, step, Sgd{});
  LocalCluster cluster({{"local", 1}}, 1);
  Session session(cluster.server("local", 0).target(), g);
  session.initialize_variables();
  std::vector<Batch> batches;
  for (int i = 0; i < 16; ++i)
    batches.push_back(consecutive_examples(mnist().train, i * model.batch, model.batch));
  const auto run = [&](const Batch& batch) {
    session.run({train.step, mlp.loss}, {{mlp.x, batch.x}, {mlp.labels, batch.labels}});
  };
  for (const auto& batch : batches) run(batch);
  return steps / seconds_of([&] {
           for (int i = 0; i < steps; ++i) run(batches[static_cast<std::size_t>(i) % batches.size()]);
         });
}

struct Product {
  MatMulShape shape;
  Tensor a, b, result;

  explicit Product(const MatMulShape& s)
      : shape(s), a(filled({s.m, s.k})), b(filled({s.k, s.n})), result(filled({s.m, s.n})) {}

  static Tensor filled(const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::float32, shape, cpu_device().allocator());
    std::ranges::fill(tensor.mutable_values<float>(), 0.01F);
    return tensor;
  }
};

// A layer's product, its weights' gradient and, but for the first, its input's gradient.
std::vector<Product> products(const Model& model) {
  std::vector<Product> all;
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    const auto in = model.layers[i], out = model.layers[i + 1];
    all.emplace_back(MatMulShape{model.batch, in, out, false, false});
    all.emplace_back(MatMulShape{in, model.batch, out, true, false});
    if (i > 0) all.emplace_back(MatMulShape{model.batch, out, in, false, true});
  }
  return all;
}

// Steps per second if a step were nothing but its products in oneDNN, on this thread.
double product_steps(const Model& model, int steps) {
  const OneDnnMatMul onednn;
  auto all = products(model);
  const auto run = [&] {
    for (auto& p : all) onednn.multiply(p.shape, p.a, p.b, p.result, cpu_device().allocator());
  };
  run();
  return steps / seconds_of([&] {
           for (int i = 0; i < steps; ++i) run();
         });
}

Measurement step_against_products(const Model& model, int steps) {
  return in_turn(
      5, [&] { return training_steps(model, steps); }, [&] { return product_steps(model, steps); });
}

Measurement small_mlp(bool quick) {
  return step_against_products({{784, 128, 10}, 64}, quick ? 20 : 3000);
}
Measurement large_mlp(bool quick) {
  return step_against_products({{784, 1024, 1024, 10}, 128}, quick ? 2 : 100);
}

// Thousand examples per second of asynchronous training as the trainer does it.
double examples_per_second(int workers, std::int64_t steps) {
  TrainOptions options;
  options.hidden = {128};
  options.optimizer = Sgd{};
  options.train_steps = steps * workers;
  const std::atomic<bool> interrupted = false;
  LocalCluster cluster({{"ps", 1}, {"worker", workers}}, workers);
  std::vector<std::future<std::optional<TrainReport>>> replicas;
  for (int worker = 0; worker < workers; ++worker)
    replicas.push_back(std::async(std::launch::async, [&, worker] {
      return train_replica(cluster.server("worker", worker), mnist(), options, interrupted, nullptr);
    }));
  const auto report = replicas.front().get();
  return report->examples_per_second / 1e3;
}

Measurement two_workers(bool quick) {
  const std::int64_t steps = quick ? 50 : 5000;
  return in_turn(
      5, [&] { return examples_per_second(2, steps); }, [&] { return examples_per_second(1, steps); });
}

}  // namespace

std::vector<Benchmark> training_benchmarks() {
  const std::string alone = "its products in oneDNN, one thread";
  return {
      {"training/mlp_784_128_10_batch_64", "step/s", alone, at_least(0.83), small_mlp},
      {"training/mlp_784_1024_1024_10_batch_128", "step/s", alone, at_least(0.9), large_mlp},
      {"training/two_workers_784_128_10", "kimg/s", "one worker on one core", at_least(1.75),
       two_workers},
  };
}

}  // namespace actorflow::bench
