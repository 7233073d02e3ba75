#include "kernels/products/onednn_batch_matmul.h"

#include "dataflow/values/check.h"
#include "kernels/products/onednn_product.h"

namespace actorflow {
namespace {

using dnnl::memory;

struct Key {
  BatchMatMulShape shape;
  memory::data_type factors;
  bool operator==(const Key&) const = default;
};

// A transposed matrix is a matter of strides: nothing is copied.
memory::desc matrices(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                      memory::data_type type, bool transposed) {
  const memory::dims strides =
      transposed ? memory::dims{rows * columns, 1, rows} : memory::dims{rows * columns, columns, 1};
  return {{batch, rows, columns}, type, strides};
}

dnnl::matmul::primitive_desc describe(const Key& key) {
  onednn_stream();
  const BatchMatMulShape& s = key.shape;
  const dnnl::matmul::desc product(
      matrices(s.shared_a ? 1 : s.batch, s.m, s.k, key.factors, s.transpose_a),
      matrices(s.shared_b ? 1 : s.batch, s.k, s.n, key.factors, s.transpose_b),
      matrices(s.batch, s.m, s.n, memory::data_type::f32, false));
  return {product, onednn_attributes(), onednn_engine()};
}

}  // namespace

struct OneDnnBatchMatMul::Primitives {
  PrimitiveCache<Key, OneDnnProduct> cache;
};

OneDnnBatchMatMul::OneDnnBatchMatMul() : primitives_(std::make_unique<Primitives>()) {}

OneDnnBatchMatMul::~OneDnnBatchMatMul() = default;

void OneDnnBatchMatMul::multiply(const BatchMatMulShape& shape, const Factors& factors, float* output,
                                 Allocator& allocator) const {
  ACTORFLOW_CHECK(shape.batch > 0 && shape.m > 0 && shape.k > 0 && shape.n > 0, shape.batch, shape.m,
                  shape.k, shape.n);
  const Key key{shape, type_of(factors)};
  try {
    primitives_->cache.with(
        key, [&] { return std::make_unique<OneDnnProduct>(describe(key)); },
        [&](OneDnnProduct& product) { product.run(factors.a, factors.b, output, allocator); });
  } catch (const dnnl::error& error) {
    rethrow_onednn_error("multiply batches of matrices", error);
  }
}

}  // namespace actorflow
