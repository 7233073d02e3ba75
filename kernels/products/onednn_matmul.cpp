#include "kernels/products/onednn_matmul.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dataflow/values/check.h"
#include "kernels/devices/team.h"
#include "kernels/products/onednn_product.h"

namespace actorflow {
namespace {

using dnnl::memory;

// What a primitive is made for: a product of blocks within larger matrices, whose rows, as they are
// stored, are so many elements apart.
struct Layout {
  MatMulShape shape;
  std::int64_t stride_a, stride_b, stride_output;
  memory::data_type factors;
  bool operator==(const Layout&) const = default;
};

// A transposed matrix is a matter of strides: nothing is copied.
memory::desc matrix(std::int64_t rows, std::int64_t columns, memory::data_type type, bool transposed,
                    std::int64_t stride) {
  const auto strides = transposed ? memory::dims{1, stride} : memory::dims{stride, 1};
  return {{rows, columns}, type, strides};
}

dnnl::matmul::primitive_desc describe(const Layout& layout) {
  onednn_stream();
  const MatMulShape& s = layout.shape;
  const dnnl::matmul::desc product(
      matrix(s.m, s.k, layout.factors, s.transpose_a, layout.stride_a),
      matrix(s.k, s.n, layout.factors, s.transpose_b, layout.stride_b),
      matrix(s.m, s.n, memory::data_type::f32, false, layout.stride_output));
  return {product, onednn_attributes(), onednn_engine()};
}

std::int64_t element(std::int64_t row, std::int64_t column, bool transposed, std::int64_t stride) {
  return transposed ? column * stride + row : row * stride + column;
}

// Below this one thread is done before another has begun.
constexpr std::int64_t min_divided_flops = 8'000'000;
// With narrower blocks all parts together take longer than the whole.
constexpr std::int64_t min_block = 384, min_rows = 32, max_parts = 16;

}  // namespace

// Rows or columns are divided, whichever are more; but the columns of a transposed b only where there
// are too few rows: oneDNN copies such a b for each block. A product with more inner indices than both
// is divided by these: each thread then reads, and keeps in its cache, a part of a and of b.
MatMulParts::MatMulParts(const MatMulShape& shape) : shape_(shape) {
  const auto& s = shape;
  if (2 * s.m * s.k * s.n < min_divided_flops) return;
  const auto parts_of = [](std::int64_t length) {
    return static_cast<int>(std::min(length / min_block, max_parts));
  };
  if (s.n > s.m && parts_of(s.n) > 1 && !s.transpose_b) {
    divided_ = Divided::columns;
    count_ = parts_of(s.n);
  } else if (parts_of(s.m) > 1) {
    count_ = parts_of(s.m);
  } else if (parts_of(s.n) <= 1 && parts_of(s.k) > 1) {
    divided_ = Divided::inner;
    count_ = 2;
  } else if (s.m >= 2 * min_rows) {
    count_ = 2;
  }
}

MatMulBlock MatMulParts::block(int part) const {
  const auto cut = [this, part](Divided by, std::int64_t length) {
    if (divided_ != by) return std::pair<std::int64_t, std::int64_t>(0, length);
    const Shares shares(length, count_, count_);
    return std::pair(shares.begin(part), shares.size(part));
  };
  const auto [first_row, rows] = cut(Divided::rows, shape_.m);
  const auto [first_column, columns] = cut(Divided::columns, shape_.n);
  const auto [first_inner, inner] = cut(Divided::inner, shape_.k);
  return {first_row, rows, first_column, columns, first_inner, inner};
}

struct OneDnnMatMul::Primitives {
  PrimitiveCache<Layout, OneDnnProduct> cache;
};

OneDnnMatMul::OneDnnMatMul() : primitives_(std::make_unique<Primitives>()) {}

OneDnnMatMul::~OneDnnMatMul() = default;

void OneDnnMatMul::multiply(const MatMulShape& shape, const Tensor& a, const Tensor& b, Tensor& output,
                            Allocator& allocator) const {
  for (const Tensor* tensor : {&a, &b, static_cast<const Tensor*>(&output)})
    ACTORFLOW_CHECK(tensor->dtype() == DType::float32 && tensor->on_host(), tensor->describe());
  ACTORFLOW_CHECK(a.elements() == shape.m * shape.k && b.elements() == shape.k * shape.n, a.describe(),
                  b.describe());
  multiply(shape, {0, shape.m, 0, shape.n, 0, shape.k}, {a.data(), b.data()},
           static_cast<float*>(output.mutable_data()), allocator);
}

void OneDnnMatMul::multiply(const MatMulShape& s, const MatMulBlock& block, const Factors& factors,
                            float* output, Allocator& allocator) const {
  ACTORFLOW_CHECK(block.rows > 0 && block.columns > 0 && block.inner > 0, block.rows, block.columns,
                  block.inner);
  const Layout layout{{block.rows, block.inner, block.columns, s.transpose_a, s.transpose_b},
                      s.transpose_a ? s.m : s.k,
                      s.transpose_b ? s.k : s.n,
                      s.n,
                      type_of(factors)};
  try {
    primitives_->cache.with(
        layout, [&] { return std::make_unique<OneDnnProduct>(describe(layout)); },
        [&](OneDnnProduct& product) {
          const auto first_a =
              element(block.first_row, block.first_inner, s.transpose_a, layout.stride_a);
          const auto first_b =
              element(block.first_inner, block.first_column, s.transpose_b, layout.stride_b);
          product.run(factors.a_from(first_a), factors.b_from(first_b),
                      output + block.first_row * s.n + block.first_column, allocator);
        });
  } catch (const dnnl::error& error) {
    rethrow_onednn_error("multiply matrices [" + std::to_string(s.m) + "," + std::to_string(s.k) +
                             "] and [" + std::to_string(s.k) + "," + std::to_string(s.n) + "]",
                         error);
  }
}

}  // namespace actorflow
