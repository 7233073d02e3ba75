// A training step of a convolutional model, against its convolutions and matrix products alone in
// oneDNN, each in its best layouts and with its fastest algorithm.
#include <algorithm>

#include "actors/actorflow.h"
#include "apps/training/conv_models.h"
#include "bench/harness.h"
#include "bench/onednn_convs.h"
#include "dataflow/replicate.h"
#include "kernels/onednn_matmul.h"

namespace actorflow::bench {
namespace {

constexpr std::int64_t batch = 64;

// The time of a step does not depend on what the pixels are.
Tensor images(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::float32, shape, cpu_device().allocator());
  std::uint32_t state = 1;
  for (float& pixel : tensor.mutable_values<float>()) {
    state = state * 1664525 + 1013904223;
    pixel = static_cast<float>(state >> 8) / 16777216.0F;
  }
  return tensor;
}

Tensor labels() {
  Tensor tensor = Tensor::allocate(DType::int64, {batch}, cpu_device().allocator());
  std::int64_t i = 0;
  for (std::int64_t& label : tensor.mutable_values<std::int64_t>()) label = i++ % 10;
  return tensor;
}

using MakeModel = ImageClassifier (*)(Graph&);

// Steps per second of a session in one process: forward, backward, update and moving averages.
class Training {
 public:
  Training(MakeModel make, int threads)
      : step_(global_step(graph_)),
        model_(make(graph_)),
        train_(minimize(graph_, model_.loss, model_.variables, step_, Sgd{.learning_rate = 1e-3})),
        cluster_({{"local", 1}}, threads),
        session_(cluster_.server("local", 0).target(), graph_),
        x_(images({batch, model_.x.shape()[1], model_.x.shape()[2], model_.x.shape()[3]})),
        labels_(labels()) {
    session_.initialize_variables();
    steps_per_second(2);
  }

  double steps_per_second(int steps) {
    return steps / seconds_of([&] {
             for (int i = 0; i < steps; ++i)
               session_.run({train_.step, model_.loss}, {{model_.x, x_}, {model_.labels, labels_}},
                            model_.updates);
           });
  }

 private:
  Graph graph_;
  Variable step_;
  ImageClassifier model_;
  TrainOp train_;
  LocalCluster cluster_;
  Session session_;
  Tensor x_, labels_;
};

// A step if it were nothing but this.
class Alone {
 public:
  explicit Alone(void (*fill)(Alone&)) { fill(*this); }

  void conv(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t window,
            std::int64_t stride) {
    const SlidingAxis axis = Sliding::axis(size, window, stride, Padding::same);
    convs_.add({batch, in, out, axis, axis}, in > 3);  // the model's own images want no gradient
  }

  // A layer's product and both of its gradients.
  void dense(std::int64_t in, std::int64_t out) {
    products_.push_back({batch, in, out, false, false});
    products_.push_back({in, batch, out, true, false});
    products_.push_back({batch, out, in, false, true});
  }

  double steps_per_second(int steps) {
    return steps / seconds_of([&] {
             for (int i = 0; i < steps; ++i) run();
           });
  }

 private:
  void run() {
    convs_.run();
    Allocator& pool = cpu_device().allocator();
    for (const MatMulShape& s : products_) {
      const Tensor a = Tensor::allocate(DType::float32, {s.m, s.k}, pool);
      const Tensor b = Tensor::allocate(DType::float32, {s.k, s.n}, pool);
      Tensor result = Tensor::allocate(DType::float32, {s.m, s.n}, pool);
      onednn_.multiply(s, a, b, result, pool);
    }
  }

  OneDnnConvs convs_;
  OneDnnMatMul onednn_;
  std::vector<MatMulShape> products_;
};

void lenet_alone(Alone& alone) {
  alone.conv(28, 1, 32, 5, 1);
  alone.conv(14, 32, 64, 5, 1);
  alone.dense(7 * 7 * 64, 512);
  alone.dense(512, 10);
}

void resnet20_alone(Alone& alone) {
  alone.conv(32, 3, 16, 3, 1);
  std::int64_t size = 32, in = 16;
  for (const std::int64_t channels : {16, 32, 64})
    for (int i = 0; i < 6; ++i) {
      const std::int64_t stride = channels > in ? 2 : 1;
      alone.conv(size, in, channels, 3, stride);
      size /= stride;
      in = channels;
    }
  alone.dense(64, 10);
}

Measurement step_against(MakeModel make, int threads, void (*fill)(Alone&), int steps) {
  Training training(make, threads);
  Alone alone(fill);
  return in_turn(
      5, [&] { return training.steps_per_second(steps); },
      [&] { return alone.steps_per_second(steps); });
}

ImageClassifier lenet(Graph& graph) { return make_lenet(graph, 1); }
ImageClassifier resnet20(Graph& graph) { return make_resnet20(graph, 1); }

Measurement lenet_step(bool quick) { return step_against(lenet, 1, lenet_alone, quick ? 1 : 40); }
Measurement resnet20_step(bool quick) {
  return step_against(resnet20, 1, resnet20_alone, quick ? 1 : 10);
}

}  // namespace

std::vector<Benchmark> conv_model_benchmarks() {
  const std::string alone = "its convolutions and products in oneDNN, one thread";
  return {
      {"training/lenet_batch_64", "step/s", alone, at_least(0.87), lenet_step},
      {"training/resnet20_batch_64", "step/s", alone, at_least(0.75), resnet20_step},
  };
}

}  // namespace actorflow::bench
