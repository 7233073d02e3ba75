// A training step of a convolutional model, against its convolutions and matrix products alone in
// oneDNN, each in its best layouts and with its fastest algorithm, and against PyTorch, TensorFlow and
// JAX.
// And its input, augmented images, against the images that steps take.
#include <omp.h>

#include <algorithm>
#include <thread>

#include "actors/actorflow.h"
#include "actors/client/dataset_iterator.h"
#include "actors/models/classifiers.h"
#include "actors/models/images/recipe.h"
#include "bench/data.h"
#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "bench/training/onednn_convs.h"
#include "dataflow/train/replicate.h"
#include "kernels/devices/onednn.h"
#include "kernels/products/onednn_matmul.h"

namespace actorflow::bench {
namespace {

constexpr std::int64_t batch_size = 64;

Tensor labels() {
  Tensor tensor = Tensor::allocate(DType::int64, {batch_size}, cpu_device().allocator());
  std::int64_t i = 0;
  for (std::int64_t& label : tensor.mutable_values<std::int64_t>()) label = i++ % 10;
  return tensor;
}

using MakeModel = Classifier (*)(Graph&);

// Steps per second of a session in one process: forward, backward, update and moving averages.
class Training {
 public:
  Training(MakeModel make, int threads)
      : step_(global_step(graph_)),
        model_(make(graph_)),
        train_(minimize(graph_, model_.train.loss, model_.variables.trained(), step_,
                        Sgd{.learning_rate = 1e-3})),
        cluster_({{"local", 1}}, threads),
        session_(cluster_.server("local", 0).target(), graph_),
        x_(random_numbers({batch_size, model_.x.shape()[1], model_.x.shape()[2], model_.x.shape()[3]},
                          0)),
        labels_(labels()) {
    session_.initialize_variables();
    steps_per_second(2);
  }

  double steps_per_second(int steps) {
    return steps / seconds_of([&] {
             for (int i = 0; i < steps; ++i)
               session_.run({train_.step, model_.train.loss}, {{model_.x, x_}, {model_.labels, labels_}},
                            model_.updates);
           });
  }

 private:
  Graph graph_;
  Variable step_;
  Classifier model_;
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
    convs_.add({batch_size, in, out, axis, axis}, in > 3);  // the model's own images want no gradient
  }

  // A layer's product and both of its gradients.
  void dense(std::int64_t in, std::int64_t out) {
    products_.push_back({batch_size, in, out, false, false});
    products_.push_back({in, batch_size, out, true, false});
    products_.push_back({batch_size, out, in, false, true});
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

struct ConvModel {
  std::string name;  // the frameworks' scripts call it the same
  MakeModel make;
  void (*fill_alone)(Alone&);
  int steps;  // that take about a second
};
const ConvModel lenet{"lenet",
                      [](Graph& g) {
                        return make_classifier(g, actorflow::lenet(), {28, 28, 1});
                      },
                      lenet_alone, 40};
const ConvModel resnet20{"resnet20",
                         [](Graph& g) {
                           return make_classifier(g, actorflow::resnet20(), {32, 32, 3});
                         },
                         resnet20_alone, 10};

// On a thread of its own: OpenMP's settings belong to the thread.
double alone_per_second(const ConvModel& model, int threads, int steps) {
  double result = 0;
  std::jthread([&] {
    onednn_stream();  // sets one thread
    omp_set_num_threads(threads);
    Alone alone(model.fill_alone);
    result = alone.steps_per_second(steps);
  }).join();
  return result;
}

Benchmark against_alone(const ConvModel& model, int threads, double bar) {
  const std::string number = std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  const std::string suffix = threads == 1 ? "" : "_" + std::to_string(threads) + "_threads";
  return {"training/" + model.name + "_batch_64" + suffix, "step/s",
          "its convolutions and products in oneDNN, " + number, at_least(bar), [=](bool quick) {
            const int steps = quick ? 1 : model.steps;
            Training training(model.make, threads);
            return in_turn(
                quick ? 1 : 3, [&] { return training.steps_per_second(steps); },
                [&] { return alone_per_second(model, threads, steps); });
          }};
}

Benchmark against(const Framework& framework, const ConvModel& model, double bar) {
  return {"training/" + model.name + "_batch_64_vs_" + framework.suffix, "step/s",
          framework.name + ", the better of 1 and 2 threads", at_least(bar), [=](bool quick) {
            const int steps = quick ? 1 : model.steps;
            Training training(model.make, 2);
            return in_turn(
                quick ? 1 : 3, [&] { return training.steps_per_second(steps); },
                [&] { return steps_per_second(framework, model.name, quick); });
          }};
}

// Images of the size of CIFAR-10's, cut and mirrored as ResNet-20 wants them, in batches.
class AugmentedImages {
 public:
  explicit AugmentedImages(std::int64_t count) : batches_(batches_of(count)) { batches_.next(); }

  double images_per_second(int batches) {
    return static_cast<double>(batches * batch_size) / seconds_of([&] {
             for (int i = 0; i < batches; ++i) batches_.next();
           });
  }

 private:
  static Dataset batches_of(std::int64_t count) {
    LabelledImages images{Tensor::allocate(DType::uint8, {count, 32, 32, 3}),
                          Tensor::allocate(DType::uint8, {count}), 10};
    for (Tensor* bytes : {&images.images, &images.labels})
      std::ranges::fill(bytes->mutable_values<std::uint8_t>(), std::uint8_t{7});
    return labelled(ImageData{images, images})
        .training_batches({.size = batch_size, .augmentation = resnet20_recipe().augmentation});
  }

  DatasetIterator batches_;
};

Benchmark input_against_steps() {
  return {"training/resnet20_augmented_images", "images/s", "those that its steps take, 2 threads",
          at_least(10), [](bool quick) {
            const int steps = quick ? 1 : resnet20.steps;
            AugmentedImages images(quick ? 100 : 50'000);
            Training training(resnet20.make, 2);
            return in_turn(
                quick ? 1 : 3, [&] { return images.images_per_second(quick ? 2 : 1000); },
                [&] { return static_cast<double>(batch_size) * training.steps_per_second(steps); });
          }};
}

}  // namespace

std::vector<Benchmark> conv_model_benchmarks() {
  return {
      input_against_steps(),
      against_alone(lenet, 1, 0.87),
      against_alone(lenet, 2, 0.87),
      against_alone(resnet20, 1, 0.75),
      against_alone(resnet20, 2, 0.75),
      against(pytorch, lenet, 1.3),
      against(pytorch, resnet20, 1.2),
      against(tensorflow, lenet, 1),
      against(tensorflow, resnet20, 1),
      against(jax, lenet, 1.5),
  };
}

}  // namespace actorflow::bench
