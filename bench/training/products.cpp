#include "bench/training/products.h"

#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <thread>
#include <unordered_map>

#include "bench/harness.h"
#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/onednn.h"
#include "kernels/products/onednn_matmul.h"

namespace actorflow::bench {
namespace {

using dnnl::memory;

// A product of matrices that stay where they are.
class Product {
 public:
  Product(const MatMulShape& s, const dnnl::engine& engine)
      : a_(matrix(s.m, s.k, s.transpose_a, engine)),
        b_(matrix(s.k, s.n, s.transpose_b, engine)),
        output_(matrix(s.m, s.n, false, engine)),
        primitive_({{a_.get_desc(), b_.get_desc(), output_.get_desc()}, engine}) {}

  void run(dnnl::stream& stream) {
    primitive_.execute(stream, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, output_}});
  }

 private:
  memory matrix(std::int64_t rows, std::int64_t columns, bool transposed, const dnnl::engine& engine) {
    tensors_.push_back(Tensor::allocate(DType::float32, {rows, columns}, cpu_device().allocator()));
    std::ranges::fill(tensors_.back().mutable_values<float>(), 0.01F);
    const auto strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
    return {{{rows, columns}, memory::data_type::f32, strides}, engine, tensors_.back().mutable_data()};
  }

  std::vector<Tensor> tensors_;
  memory a_, b_, output_;
  dnnl::matmul primitive_;
};

// A layer's product, its weights' gradient and, but for the first, its input's gradient.
std::vector<MatMulShape> shapes_of(const Layers& layers) {
  std::vector<MatMulShape> all;
  for (std::size_t i = 0; i + 1 < layers.sizes.size(); ++i) {
    const auto in = layers.sizes[i], out = layers.sizes[i + 1];
    all.push_back({layers.batch, in, out, false, false});
    all.push_back({in, layers.batch, out, true, false});
    if (i > 0) all.push_back({layers.batch, out, in, false, true});
  }
  return all;
}

double measure(const Layers& layers, int steps) {
  const dnnl::engine& engine = onednn_engine();
  dnnl::stream stream(engine);
  std::vector<Product> all;
  for (const auto& shape : shapes_of(layers)) all.emplace_back(shape, engine);
  const auto run = [&] {
    for (auto& product : all) product.run(stream);
  };
  run();
  return steps / seconds_of([&] {
           for (int i = 0; i < steps; ++i) run();
         });
}

}  // namespace

// On a thread of its own: OpenMP's and oneDNN's settings belong to the thread.
double product_steps_per_second(const Layers& layers, int threads, int steps) {
  double result = 0;
  std::jthread([&] {
    omp_set_num_threads(threads);
    result = measure(layers, steps);
  }).join();
  return result;
}

}  // namespace actorflow::bench
