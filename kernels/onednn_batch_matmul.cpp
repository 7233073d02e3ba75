#include "kernels/onednn_batch_matmul.h"

#include "kernels/onednn_product.h"

namespace actorflow {
namespace {

using dnnl::memory;

// A transposed matrix is a matter of strides: nothing is copied.
memory::desc matrices(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  const memory::dims strides =
      transposed ? memory::dims{rows * columns, 1, rows} : memory::dims{rows * columns, columns, 1};
  return {{batch, rows, columns}, memory::data_type::f32, strides};
}

dnnl::matmul::primitive_desc describe(const BatchMatMulShape& s) {
  onednn_stream();
  const dnnl::matmul::desc product(matrices(s.shared_a ? 1 : s.batch, s.m, s.k, s.transpose_a),
                                   matrices(s.shared_b ? 1 : s.batch, s.k, s.n, s.transpose_b),
                                   matrices(s.batch, s.m, s.n, false));
  return {product, onednn_attributes(), onednn_engine()};
}

}  // namespace

struct OneDnnBatchMatMul::Primitives {
  PrimitiveCache<BatchMatMulShape, OneDnnProduct> cache;
};

OneDnnBatchMatMul::OneDnnBatchMatMul() : primitives_(std::make_unique<Primitives>()) {}

OneDnnBatchMatMul::~OneDnnBatchMatMul() = default;

void OneDnnBatchMatMul::multiply(const BatchMatMulShape& shape, const float* a, const float* b,
                                 float* output, Allocator& allocator) const {
  try {
    primitives_->cache.with(
        shape, [&] { return std::make_unique<OneDnnProduct>(describe(shape)); },
        [&](OneDnnProduct& product) { product.run(a, b, output, allocator); });
  } catch (const dnnl::error& error) {
    rethrow_onednn_error("multiply batches of matrices", error);
  }
}

}  // namespace actorflow
