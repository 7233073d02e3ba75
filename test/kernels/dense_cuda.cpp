// Dense layers on the GPU: sums of columns of many sizes against the CPU, and fused ops, whose bias
// cuBLASLt adds, against the ops that they replace, bit for bit. Skipped, visibly, without a GPU.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"
#include "test/support/has_gpu.h"
#include "test/support/status_of.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/products/lt_matmul.h"
#endif

BOOST_AUTO_TEST_SUITE(dense_cuda, *boost::unit_test::precondition(actorflow::test::has_gpu))

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr DType f32 = DType::float32, f64 = DType::float64;
using Tensors = std::vector<Tensor>;

// The outputs of an op, on the host.
Tensors run(std::string_view op, const Attrs& attrs, const Tensors& inputs, Device& device) {
  Graph graph;
  std::vector<Output> placeholders;
  Tensors moved;
  for (const Tensor& input : inputs) {
    placeholders.push_back(graph.placeholder(input.dtype(), input.shape()));
    moved.push_back(device.to_device(input));
  }
  const Output output = graph.add(builtin_ops().def(op), placeholders, attrs);
  Tensors outputs = run_kernel(output.node(), moved, device);
  for (Tensor& tensor : outputs) tensor = device.to_host(tensor);
  return outputs;
}

Tensors on_gpu(std::string_view op, const Attrs& attrs, const Tensors& inputs) {
  return run(op, attrs, inputs, cuda_device(0));
}

void check_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  BOOST_TEST_REQUIRE(actual.describe() == expected.describe());
  const Array is = to_array(actual), should = to_array(expected);
  for (std::int64_t i = 0; i < actual.elements(); ++i)
    if (!(std::abs(is[i] - should[i]) <= tolerance * std::max(1.0, std::abs(should[i]))))
      BOOST_ERROR("element " << i << " is " << is[i] << " on the GPU, " << should[i] << " on the CPU");
}

struct Layer {
  std::int64_t m, k, n;
  bool transpose_a = false, transpose_b = false;
  std::string precision = "float32";
  bool relu = false;

  Attrs product() const {
    return {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"precision", precision}};
  }
  Attrs fused() const {
    Attrs attrs = product();
    attrs["relu"] = relu;
    return attrs;
  }
  Tensors inputs(DType dtype) const {
    const Shape a = transpose_a ? Shape{k, m} : Shape{m, k}, b = transpose_b ? Shape{n, k} : Shape{k, n};
    return make_inputs({"FusedMatMul", "", {{f32, a, -1, 1}, {f32, b, -1, 1}, {f32, {n}}}, {}, {}},
                       dtype);
  }
};

std::ostream& operator<<(std::ostream& out, const Layer& l) {
  return out << "[" << l.m << "," << l.k << "] by [" << l.k << "," << l.n << "], "
             << (l.transpose_a ? "a transposed, " : "") << (l.transpose_b ? "b transposed, " : "")
             << l.precision << (l.relu ? ", relu" : "");
}

Tensor in_three_ops(const Layer& layer, const Tensors& inputs) {
  const Tensor product = on_gpu("MatMul", layer.product(), {inputs[0], inputs[1]})[0];
  const Tensor sum = on_gpu("BiasAdd", {}, {product, inputs[2]})[0];
  return layer.relu ? on_gpu("Relu", {}, {sum})[0] : sum;
}

// The bits of the nodes that the op replaces, and about the CPU's values.
void check_layer(const Layer& layer, DType dtype = f32) {
  BOOST_TEST_CONTEXT(layer << ", " << to_string(dtype)) {
    const Tensors inputs = layer.inputs(dtype);
    const Tensor fused = on_gpu("FusedMatMul", layer.fused(), inputs)[0];
    BOOST_TEST(identical(fused, in_three_ops(layer, inputs)));
    BOOST_TEST(identical(fused, on_gpu("FusedMatMul", layer.fused(), inputs)[0]));
    Layer precise = layer;
    precise.precision = "float32";
    const double unit = layer.precision == "bf16"   ? 0x1p-7
                        : layer.precision == "tf32" ? 0x1p-9
                                                    : 0x1p-19;
    check_close(fused, run("FusedMatMul", precise.fused(), inputs, cpu_device())[0],
                unit * std::sqrt(static_cast<double>(layer.k) + 1));
  }
}

const std::vector<Shape> sizes{{1, 1},       {3, 1},      {20'000, 1},   {16'384, 10}, {16'380, 10},
                               {4'099, 65},  {4'096, 65}, {4'098, 66},   {16'384, 65}, {3'000, 128},
                               {255, 128},   {256, 128},  {16'384, 128}, {2'048, 512}, {333, 513},
                               {700, 2'000}, {5, 10'000}, {1'000, 3},    {0, 7},       {0, 8}};

}  // namespace

BOOST_AUTO_TEST_CASE(columns_of_all_sizes_are_summed_as_on_a_cpu) {
  for (const Shape& size : sizes)
    for (const DType dtype : {f32, f64})
      BOOST_TEST_CONTEXT(size.to_string() << ", " << to_string(dtype)) {
        const Tensors g = make_inputs({"BiasAddGrad", "", {{f32, size}}, {}, {}}, dtype);
        const Tensor sums = on_gpu("BiasAddGrad", {}, g)[0];
        check_close(sums, run("BiasAddGrad", {}, g, cpu_device())[0], dtype == f32 ? 2e-7 : 1e-10);
        BOOST_TEST(identical(sums, on_gpu("BiasAddGrad", {}, g)[0]));
      }
}

BOOST_AUTO_TEST_CASE(gradients_of_a_relu_and_its_bias_have_the_bits_of_two_ops) {
  for (const Shape& size : sizes)
    for (const DType dtype : {f32, f64})
      BOOST_TEST_CONTEXT(size.to_string() << ", " << to_string(dtype)) {
        const Tensors inputs =
            make_inputs({"ReluBiasGrad", "", {{f32, size}, {f32, size}}, {}, {}}, dtype);
        const Tensors fused = on_gpu("ReluBiasGrad", {}, inputs);
        const Tensor gradient = on_gpu("ReluGrad", {}, inputs)[0];
        BOOST_TEST(identical(fused[0], gradient));
        BOOST_TEST(identical(fused[1], on_gpu("BiasAddGrad", {}, {gradient})[0]));
      }
}

// Sizes that tiles and packs divide, odd ones, one row or column, sums that are divided.
BOOST_AUTO_TEST_CASE(fused_layers_have_the_bits_of_their_ops) {
  for (const std::string precision : {"float32", "tf32", "bf16"})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const auto& [m, k, n] :
             std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>{{1, 1, 1},
                                                                               {1, 300, 17},
                                                                               {33, 7, 1},
                                                                               {31, 33, 65},
                                                                               {64, 784, 128},
                                                                               {128, 64, 10},
                                                                               {512, 128, 512},
                                                                               {130, 129, 258},
                                                                               {16, 5'000, 24}})
          for (const bool relu : {false, true})
            check_layer({m, k, n, transpose_a, transpose_b, precision, relu});
}

BOOST_AUTO_TEST_CASE(fused_layers_in_float64_have_the_bits_of_their_ops) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      check_layer({31, 33, 65, transpose_a, transpose_b}, f64);
}

BOOST_AUTO_TEST_CASE(layers_of_a_transformer_have_the_bits_of_their_ops) {
  for (const auto& [k, n] : {std::pair(128, 128), {128, 512}, {512, 128}, {128, 65}})
    for (const std::string precision : {"float32", "tf32"})
      check_layer({4'096, k, n, false, false, precision});
}

// As many as rounding the factors before is worth it for.
BOOST_AUTO_TEST_CASE(large_products_with_rounded_factors_have_the_bits_of_their_ops) {
  check_layer({1'024, 1'024, 1'024, false, false, "bf16"});
}

BOOST_AUTO_TEST_CASE(empty_layers) {
  for (const Layer& layer : {Layer{0, 7, 3}, {4, 7, 0}, {0, 7, 3, true, true}, {4, 0, 3}, {0, 0, 0}})
    for (const DType dtype : {f32, f64}) check_layer(layer, dtype);
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_go_through_a_layer) {
  for (const bool relu : {false, true}) {
    const Layer layer{32, 16, 64, false, false, "float32", relu};
    Tensors inputs = layer.inputs(f32);
    inputs[0].mutable_values<float>()[5] = NAN;
    inputs[2].mutable_values<float>()[7] = INFINITY;
    const Tensor output = on_gpu("FusedMatMul", layer.fused(), inputs)[0];
    BOOST_TEST(std::isnan(output.values<float>()[0]));
    BOOST_TEST(std::isnan(output.values<float>()[63]));
    BOOST_TEST(output.values<float>()[64 + 7] == INFINITY);
    BOOST_TEST(identical(output, in_three_ops(layer, inputs)));
  }
}

BOOST_AUTO_TEST_CASE(a_bias_of_another_length_is_refused_on_a_gpu) {
  const Layer layer{8, 16, 32};
  Tensors inputs = layer.inputs(f32);
  inputs[2] = Tensor::zeros(f32, {31});
  const auto says = [&](Device& device) {
    return error_of([&] { run("FusedMatMul", layer.fused(), inputs, device); });
  };
  BOOST_TEST(says(cuda_device(0)).find("a bias with one value per column") != std::string::npos);
  BOOST_TEST(says(cuda_device(0)) == says(cpu_device()));
}

#ifdef ACTORFLOW_CUDA
// Otherwise all of the above would hold of the two passes that are there for where it cannot.
BOOST_AUTO_TEST_CASE(cublas_lt_adds_the_bias_of_usual_layers) {
  Device& gpu = cuda_device(0);
  for (const bool transpose_b : {false, true})
    for (const Precision precision : {Precision::float32, Precision::tf32}) {
      const Layer layer{512, 128, 256, false, transpose_b};
      Tensors inputs = layer.inputs(f32);
      for (Tensor& input : inputs) input = gpu.to_device(input);
      const auto floats = [&](std::size_t i) { return static_cast<const float*>(inputs[i].data()); };
      Tensor output = Tensor::allocate(f32, {layer.m, layer.n}, gpu.allocator());
      const CublasHandle handle(gpu);
      const LtLaunched launched = launch_lt_matmul(
          handle, gpu, {layer.m, layer.k, layer.n, false, transpose_b}, precision,
          {floats(0), floats(1), floats(2), static_cast<float*>(output.mutable_data())});
      BOOST_TEST((launched == LtLaunched::sum), layer << ", " << to_string(precision));
    }
}
#endif

// More shapes than algorithms are kept of.
BOOST_AUTO_TEST_CASE(a_shape_that_comes_again_after_many_others_has_the_same_bits) {
  const Layer first{40, 24, 48};
  const Tensors inputs = first.inputs(f32);
  const Tensor before = on_gpu("FusedMatMul", first.fused(), inputs)[0];
  for (std::int64_t m = 1; m <= 1'100; ++m) {
    const Layer layer{m, 4, 4};
    const Tensors others = layer.inputs(f32);
    const Tensor output = on_gpu("FusedMatMul", layer.fused(), others)[0];
    if (m % 100 == 0)
      check_close(output, run("FusedMatMul", layer.fused(), others, cpu_device())[0], 1e-5);
  }
  BOOST_TEST(identical(on_gpu("FusedMatMul", first.fused(), inputs)[0], before));
}

BOOST_AUTO_TEST_CASE(threads_share_the_algorithms) {
  constexpr int threads = 4, turns = 20;
  std::vector<Tensors> outputs(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      for (int turn = 0; turn < turns; ++turn) {
        const Layer layer{50 + turn, 40, 36};
        outputs[static_cast<std::size_t>(thread)].push_back(
            on_gpu("FusedMatMul", layer.fused(), layer.inputs(f32))[0]);
      }
    });
  for (std::thread& thread : running) thread.join();
  for (const Tensors& others : outputs)
    for (std::size_t turn = 0; turn < turns; ++turn)
      BOOST_TEST(identical(others[turn], outputs[0][turn]));
}

BOOST_AUTO_TEST_SUITE_END()
