// What a GPU computes: kernels against a copy in its memory and against PyTorch's, training steps of
// sessions whose nodes are all on the GPU against PyTorch's compiled ones. Everything is in float32, but
// for products, whose factors are of, or are rounded to, what their name says.
#include "bench/gpu/gpu.h"
#include "actors/actorflow.h"
#include "actors/models/classifiers.h"
#include "actors/models/text/transformer.h"
#include "bench/data.h"
#include "bench/harness.h"
#include "dataflow/train/replicate.h"
#include "kernels/core/kernel.h"
#include "kernels/loops/short_floats.h"

namespace actorflow::bench {
namespace {

Device& gpu() {
  if (cuda_device_count() == 0) throw Skipped("this machine or this build has no GPU");
  return cuda_device(0);
}

// Whole numbers from 0 to below `end`.
Tensor indices(std::int64_t count, std::int64_t end) {
  Tensor tensor = Tensor::allocate(DType::int64, {count}, cpu_device().allocator());
  std::uint64_t state = 1;
  for (std::int64_t& element : tensor.mutable_values<std::int64_t>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    element = static_cast<std::int64_t>(state >> 33) % end;
  }
  return tensor;
}

using Inputs = std::vector<Tensor>;
using Build = std::function<Output(const std::vector<Output>&)>;

// One op on tensors of the GPU, as a step calls it: its outputs come from the pool.
class Call {
 public:
  Call(const Build& build, const Inputs& inputs) {
    std::vector<Output> placeholders;
    for (const Tensor& input : inputs) {
      placeholders.push_back(graph_.placeholder(input.dtype(), input.shape()));
      inputs_.push_back(gpu().to_device(input));
    }
    node_ = &build(placeholders).node();
    kernel_ = builtin_ops().make(*node_, DeviceType::cuda);
    seconds(3);
  }

  // The mean over `calls` calls that are launched one after the other.
  double seconds(int calls) {
    gpu().synchronize();
    return seconds_of([&] {
             for (int i = 0; i < calls; ++i) run();
             gpu().synchronize();
           }) /
           calls;
  }

 private:
  void run() {
    std::vector<Tensor> outputs(node_->outputs.size());
    std::vector<Tensor> inputs = inputs_;
    OpContext context(*node_, gpu(), inputs, outputs);
    kernel_->compute(context);
  }

  Graph graph_;
  Inputs inputs_;
  const Node* node_ = nullptr;
  std::unique_ptr<Kernel> kernel_;
};

constexpr std::int64_t gibi = std::int64_t{1} << 30, elements_of_gibi = gibi / 4;

// GB/s of an op that moves so many GiB, beside a copy of 1 GiB, which moves two.
Benchmark bandwidth(const std::string& name, int moved_gib, double bar, const Build& build,
                    const std::function<Inputs()>& inputs) {
  return {"gpu/" + name, "GB/s", "a copy in the GPU's memory", at_least(bar), [=](bool quick) {
            gpu();
            Call call(build, inputs());
            const int calls = quick ? 1 : 20;
            return in_turn(
                quick ? 1 : 5, [&] { return moved_gib * 1.073741824 / call.seconds(calls); },
                [&] { return device_copy_gb_per_second(gibi, calls); });
          }};
}

// Calls per second beside those of PyTorch.
Benchmark against_pytorch(const std::string& name, double bar, int calls, const Build& build,
                          const std::function<Inputs()>& inputs) {
  return {"gpu/" + name, "calls/s", "PyTorch", at_least(bar), [=](bool quick) {
            gpu();
            Call call(build, inputs());
            return in_turn(
                quick ? 1 : 5, [&] { return 1 / call.seconds(quick ? 1 : calls); },
                [&] { return pytorch_on_gpu(name, quick); });
          }};
}

std::function<Inputs()> floats(std::vector<Shape> shapes) {
  return [shapes = std::move(shapes)] {
    Inputs inputs;
    for (const Shape& shape : shapes) inputs.push_back(random_numbers(shape, -0.5F));
    return inputs;
  };
}

// Of random numbers.
Tensor bfloat16_matrix(std::int64_t side) {
  return rounded(cpu_device(), random_numbers({side, side}, -0.5F), DType::bfloat16);
}

Build product(Precision precision) {
  return [precision](const std::vector<Output>& x) {
    Output y;
    x[0].graph->precision(precision, [&] { y = matmul(x[0], x[1]); });
    return y;
  };
}

Output normalised(const std::vector<Output>& x) { return layer_norm(x[0], x[1], x[2]); }

// Of the gradient, x and gamma.
Output normalised_gradient(const std::vector<Output>& x) {
  return x[0].graph->add(builtin_ops().def("LayerNormGrad"), {x[0], x[1], x[2]}, {{"epsilon", 0.001}});
}

Output bias_gradient(const std::vector<Output>& x) {
  return x[0].graph->add(builtin_ops().def("BiasAddGrad"), {x[0]});
}

// The op that stands for a dense layer of x, the weights and the bias in a step. Layers have weights
// [in, out]; PyTorch's are [out, in], which is the layout that a Hopper's tensor cores take TF32 in.
Build dense_layer(bool weights_out_in = false) {
  return [=](const std::vector<Output>& x) -> Output {
    return x[0].graph->add(builtin_ops().def("FusedMatMul"), x,
                           {{"precision", std::string("tf32")}, {"transpose_b", weights_out_in}});
  };
}

// Steps of a session on one GPU: forward, backward, update.
class Training {
 public:
  using Make = std::function<Output(Graph&, Training&)>;  // the loss

  Training(const Make& make, bool cuda_graphs)
      : cluster_({{"local", 1}}, 2), step_(global_step(graph_)) {
    graph_.on("/gpu:0", [&] {
      graph_.precision(Precision::tf32, [&] {
        loss_ = make(graph_, *this);
        train_ = minimize(graph_, loss_, variables, step_, Sgd{.learning_rate = 1e-3});
      });
    });
    SessionOptions options;
    options.cuda_graphs = cuda_graphs;
    session_ = std::make_unique<Session>(cluster_.server("local", 0).target(), graph_, options);
    session_->initialize_variables();
    steps_per_second(5);
  }

  double steps_per_second(int steps) {
    return steps / seconds_of([&] {
             for (int i = 0; i < steps; ++i)
               session_->run({train_.step, loss_}, {{x, images}, {labels, classes}}, updates);
           });
  }

  void write_trace(const std::string& path) {
    RunMetadata metadata;
    profile([&] {
      session_->run({train_.step, loss_}, {{x, images}, {labels, classes}}, updates, {.trace = true},
                    &metadata);
    });
    write_chrome_trace(metadata.trace, path);
  }

  Output x, labels;
  Tensor images, classes;
  std::vector<Variable> variables;
  std::vector<Output> updates;

 private:
  Graph graph_;
  LocalCluster cluster_;
  Variable step_;
  Output loss_;
  TrainOp train_;
  std::unique_ptr<Session> session_;
};

Output adopt(Training& training, const Classifier& model, Shape images) {
  const std::int64_t batch = images[0];
  training.x = model.x;
  training.labels = model.labels;
  training.variables = model.variables.trained();
  training.updates = model.updates;
  training.images = random_numbers(images, -0.5F);
  training.classes = indices(batch, 10);
  return model.train.loss;
}

Output mlp(Graph& g, Training& training, const std::vector<std::int64_t>& hidden, std::int64_t batch) {
  return adopt(training, make_classifier(g, actorflow::mlp(hidden), {784}), {batch, 784});
}

Output resnet20(Graph& g, Training& training, std::int64_t batch = 512) {
  return adopt(training, make_classifier(g, actorflow::resnet20(), {32, 32, 3}), {batch, 32, 32, 3});
}

// nanoGPT's small transformer for CPUs, as pytorch_step.py has it, on 16,384 characters a step.
Output transformer(Graph& g, Training& training) {
  const Shape positions{TransformerOptions{}.context};
  const std::int64_t characters = 65, sequences = 256;
  const Output loss =
      adopt(training,
            make_classifier(g, character_transformer(characters, {.bias = true, .tied = false}),
                            TensorType{DType::int64, positions}, {.label = positions}),
            {sequences, positions[0]});
  training.images = indices(sequences * positions[0], characters).reshaped({sequences, positions[0]});
  training.classes = training.images;
  return loss;
}

enum class Launches { in_graphs, node_by_node };

// As sessions are without options, or with each kernel launched by itself.
Benchmark training(const std::string& model, double bar, int steps, const Training::Make& make,
                   Launches launches = Launches::in_graphs) {
  const bool in_graphs = launches == Launches::in_graphs;
  return {"gpu/" + model + (in_graphs ? "" : "_node_by_node"), "step/s", "PyTorch, compiled",
          at_least(bar), [=](bool quick) {
            gpu();
            Training ours(make, in_graphs);
            return in_turn(
                quick ? 1 : 3, [&] { return ours.steps_per_second(quick ? 1 : steps); },
                [&] { return pytorch_on_gpu(model, quick); });
          }};
}

}  // namespace

void write_gpu_trace(const std::string& path, const std::string& model) {
  gpu();
  const Training::Make make = model == "transformer"
                                  ? Training::Make(transformer)
                                  : [](Graph& g, Training& t) { return resnet20(g, t); };
  Training(make, false).write_trace(path);
}

std::vector<Benchmark> gpu_benchmarks() {
  const Shape large{elements_of_gibi};
  const auto factors = floats({{8192, 8192}, {8192, 8192}});
  const auto rows = floats({{16384, 1024}, {1024}, {1024}});
  const auto small = [](Graph& g, Training& t) { return mlp(g, t, {128}, 64); };
  const auto wide = [](Graph& g, Training& t) { return mlp(g, t, {1024, 1024}, 128); };
  const auto residual = [](std::int64_t batch) {
    return [batch](Graph& g, Training& t) { return resnet20(g, t, batch); };
  };
  return {
      bandwidth(
          "relu_1GiB", 2, 0.9, [](const auto& x) { return relu(x[0]); }, floats({large})),
      bandwidth(
          "tanh_1GiB", 2, 0.9, [](const auto& x) { return tanh(x[0]); }, floats({large})),
      bandwidth(
          "add_1GiB", 3, 0.9, [](const auto& x) { return x[0] + x[1]; }, floats({large, large})),
      bandwidth(
          "sum_1GiB", 1, 0.9, [](const auto& x) { return sum(x[0]); }, floats({large})),
      bandwidth(
          "column_sums_1GiB", 1, 0.8, [](const auto& x) { return sum(x[0], {0}); },
          floats({{elements_of_gibi / 1024, 1024}})),
      bandwidth(
          "row_sums_1GiB", 1, 0.8, [](const auto& x) { return sum(x[0], {1}); },
          floats({{elements_of_gibi / 1024, 1024}})),
      bandwidth(
          "transpose_1GiB", 2, 0.8, [](const auto& x) { return transpose(x[0]); },
          floats({{16384, 16384}})),
      bandwidth(
          "softmax_1GiB", 2, 0.8, [](const auto& x) { return softmax(x[0]); },
          floats({{elements_of_gibi / 1024, 1024}})),
      against_pytorch("product_8192_bf16", 0.98, 10, product(Precision::float32),
                      [] {
                        return Inputs{bfloat16_matrix(8192), bfloat16_matrix(8192)};
                      }),
      against_pytorch("product_8192_rounded_to_bf16", 0.9, 10, product(Precision::bf16), factors),
      against_pytorch("product_8192_tf32", 0.98, 10, product(Precision::tf32), factors),
      against_pytorch("product_8192_float32", 0.98, 3, product(Precision::float32), factors),
      against_pytorch("dense_16384_512_512_tf32", 1, 50, dense_layer(),
                      floats({{16384, 512}, {512, 512}, {512}})),
      against_pytorch("dense_16384_512_512_tf32_weights_in_out", 1, 50, dense_layer(),
                      floats({{16384, 512}, {512, 512}, {512}})),
      against_pytorch("dense_16384_512_512_tf32_weights_out_in", 1, 50, dense_layer(true),
                      floats({{16384, 512}, {512, 512}, {512}})),
      against_pytorch("dense_16384_128_512_tf32", 1, 50, dense_layer(),
                      floats({{16384, 128}, {128, 512}, {512}})),
      against_pytorch("bias_gradient_16384_512", 1, 50, bias_gradient, floats({{16384, 512}})),
      against_pytorch("bias_gradient_16384_128", 1, 50, bias_gradient, floats({{16384, 128}})),
      against_pytorch("bias_gradient_65536_65", 1, 50, bias_gradient, floats({{65536, 65}})),
      against_pytorch("layer_norm_16384_1024", 1, 50, normalised, rows),
      against_pytorch("layer_norm_gradient_16384_1024", 1, 50, normalised_gradient,
                      floats({{16384, 1024}, {16384, 1024}, {1024}})),
      against_pytorch(
          "scatter_add_1M_rows_of_64", 1, 5, [](const auto& x) { return scatter_add(x[0], x[1], x[2]); },
          [] {
            return Inputs{random_numbers({100'000, 64}, -0.5F), indices(1'000'000, 100'000),
                          random_numbers({1'000'000, 64}, -0.5F)};
          }),
      training("mlp_784_128_10_batch_64", 1.5, 500, small),
      training("mlp_784_128_10_batch_64", 1.5, 500, small, Launches::node_by_node),
      training("mlp_784_1024_1024_10_batch_128", 1.5, 500, wide),
      training("mlp_784_1024_1024_10_batch_128", 1.5, 500, wide, Launches::node_by_node),
      training("resnet20_batch_128", 1, 100, residual(128)),
      training("resnet20_batch_128", 0.85, 100, residual(128), Launches::node_by_node),
      training("resnet20_batch_512", 1, 50, residual(512)),
      training("resnet20_batch_512", 0.85, 50, residual(512), Launches::node_by_node),
      training("transformer_4x128_batch_256", 1, 100, transformer),
      training("transformer_4x128_batch_256", 0.85, 100, transformer, Launches::node_by_node),
  };
}

}  // namespace actorflow::bench
