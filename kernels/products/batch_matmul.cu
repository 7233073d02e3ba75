// BatchMatMul: products of matrices in the last two dimensions, the others broadcast. oneDNN for float32
// and a plain loop for float64 on a CPU, cuBLAS on a GPU.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/strided.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"
#include "kernels/products/bfloat16.h"
#include "kernels/products/onednn_batch_matmul.h"
#include "kernels/products/plain_batch_matmul.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cublas.h"
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

Shape without_matrix(const Shape& shape) { return Shape(shape.dims().first(shape.dims().size() - 2)); }

// The rows and columns of the matrices after op.
struct MatrixDims {
  std::int64_t rows, columns;

  MatrixDims(const Shape& shape, bool transpose)
      : rows(shape[shape.rank() - 2]), columns(shape[shape.rank() - 1]) {
    if (transpose) std::swap(rows, columns);
  }
};

// The shape of the product; fails in terms of the node if there is none.
template <class Context>
Shape product_shape(const Context& c, const Shape& a, const Shape& b, bool transpose_a,
                    bool transpose_b) {
  const auto mistake = [&](const std::string& expected) {
    c.fail(expected, a.to_string() + (transpose_a ? " transposed" : "") + " and " + b.to_string() +
                         (transpose_b ? " transposed" : ""));
  };
  if (a.rank() < 2 || b.rank() < 2) mistake("tensors with two or more dimensions");
  const MatrixDims left(a, transpose_a), right(b, transpose_b);
  if (!Shape({left.columns}).compatible_with({right.rows}))
    mistake("matrices whose inner dimensions agree");
  Shape shape;
  try {
    shape = broadcast(without_matrix(a), without_matrix(b));
  } catch (const Error&) {
    mistake("batches that broadcast to one shape");
  }
  shape.push_back(left.rows);
  shape.push_back(right.columns);
  return shape;
}

void infer_batch_matmul(InferContext& c) {
  expect_dtype_in<AllFloatingTypes>(c, 0);
  c.expect_same_dtype();
  expect_precision(c);
  const Shape &a = c.input(0).shape, &b = c.input(1).shape;
  const bool known = a.has_rank() && b.has_rank();
  c.add_output(c.input(0).dtype,
               known ? product_shape(c, a, b, c.attr<bool>("transpose_a"), c.attr<bool>("transpose_b"))
                     : Shape::unknown_rank());
}

// With g the gradient of the output: da = g b^T, db = a^T g, transposed where the input was, and summed
// up where it was broadcast.
std::vector<Output> batch_matmul_gradient(GradientContext& c) {
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  const Output a = c.input(0), b = c.input(1), g = c.gradient();
  const Output da = ta ? batch_matmul(b, g, tb, true) : batch_matmul(g, b, false, !tb);
  const Output db = tb ? batch_matmul(g, a, true, ta) : batch_matmul(a, g, !ta, false);
  return {sum_like(da, a), sum_like(db, b)};
}

const OpDef& batch_matmul_op() {
  static const OpDef op{.name = "BatchMatMul",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"transpose_a", false}, {"transpose_b", false}, precision_attr()},
                        .infer = infer_batch_matmul,
                        .gradient = batch_matmul_gradient};
  return op;
}

// What the kernels of both devices have in common.
class BatchMatMul : public Kernel {
 public:
  explicit BatchMatMul(const Node& node)
      : transpose_a_(attr<bool>(node, "transpose_a")),
        transpose_b_(attr<bool>(node, "transpose_b")),
        precision_(precision_of(node)) {}

  void compute(OpContext& c) const override {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.dtype() != b.dtype() || !is_floating(a.dtype()))
      c.fail("floating inputs of one dtype", a.describe() + " and " + b.describe());
    const auto compute_wide = [this](OpContext& wide) { compute_product(wide); };
    multiplies_short_floats() ? compute_product(c) : compute_in_float32(c, compute_wide);
  }

 protected:
  // Does multiply() take float16 and bfloat16? Otherwise it gets float32 in their place.
  virtual bool multiplies_short_floats() const { return false; }
  // Matrices of `dtype` from these places on.
  virtual void multiply(OpContext& c, const BatchMatMulShape& shape, DType dtype, const void* a,
                        const void* b, void* output) const = 0;
  Precision precision() const { return precision_; }

 private:
  void compute_product(OpContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    const Shape shape = product_shape(c, a.shape(), b.shape(), transpose_a_, transpose_b_);
    Tensor& output = c.allocate_output(0, a.dtype(), shape);
    const MatrixDims left(a.shape(), transpose_a_), right(b.shape(), transpose_b_);
    if (left.columns == 0) return clear(c.device(), output);
    if (output.elements() == 0) return;
    BatchMatMulShape product{1,     left.rows, left.columns, right.columns, transpose_a_, transpose_b_,
                             false, false};
    multiply_runs(c, product, output);
  }

  // One call for each run of products in which a side either advances or stays.
  void multiply_runs(OpContext& c, BatchMatMulShape product, Tensor& output) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    const auto loops = broadcast_loops<2>(without_matrix(output.shape()),
                                          {without_matrix(a.shape()), without_matrix(b.shape())});
    product.batch = loops.row_length();
    product.shared_a = loops.row_stride(0) == 0;
    product.shared_b = loops.row_stride(1) == 0;
    const auto size = static_cast<std::int64_t>(size_of(a.dtype()));
    const auto *left = static_cast<const std::byte*>(a.data()),
               *right = static_cast<const std::byte*>(b.data());
    auto* result = static_cast<std::byte*>(output.mutable_data());
    loops.for_each_row([&](std::int64_t first, const auto& offsets) {
      multiply(c, product, a.dtype(), left + offsets[0] * product.m * product.k * size,
               right + offsets[1] * product.k * product.n * size,
               result + first * product.m * product.n * size);
    });
  }

  bool transpose_a_, transpose_b_;
  Precision precision_;
};

class CpuBatchMatMul final : public BatchMatMul {
 public:
  using BatchMatMul::BatchMatMul;

 private:
  void multiply(OpContext& c, const BatchMatMulShape& s, DType dtype, const void* a, const void* b,
                void* output) const override {
    if (dtype == DType::float64)
      multiply_plainly(s, static_cast<const double*>(a), static_cast<const double*>(b),
                       static_cast<double*>(output));
    else
      multiply_float32(c, s, {a, b}, static_cast<float*>(output));
  }

  void multiply_float32(OpContext& c, const BatchMatMulShape& s, Factors factors, float* output) const {
    BufferRef rounded;
    if (rounds_to_bf16(precision(), s.m, s.k, s.n))
      factors = round_to_bf16(c, factors, (s.shared_a ? 1 : s.batch) * s.m * s.k,
                              (s.shared_b ? 1 : s.batch) * s.k * s.n, rounded);
    onednn_.multiply(s, factors, output, c.device().allocator());
  }

  OneDnnBatchMatMul onednn_;
};

#ifdef ACTORFLOW_CUDA

class CudaBatchMatMul final : public BatchMatMul {
 public:
  using BatchMatMul::BatchMatMul;

 private:
  bool multiplies_short_floats() const override { return true; }

  // cuBLAS counts column by column, where our matrices look transposed: it multiplies b^T a^T instead.
  void multiply(OpContext& c, const BatchMatMulShape& s, DType dtype, const void* a, const void* b,
                void* output) const override {
    const CublasHandle handle(c.device());
    const auto op = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const cudaDataType type = cublas_type(dtype);
    const ProductScales scales(dtype);
    check_cublas(
        cublas().gemm_strided_batched_ex(
            handle, op(s.transpose_b), op(s.transpose_a), s.n, s.m, s.k, scales.one(), b, type,
            s.transpose_b ? s.k : s.n, s.shared_b ? 0 : s.k * s.n, a, type, s.transpose_a ? s.m : s.k,
            s.shared_a ? 0 : s.m * s.k, scales.zero(), output, type, s.n, s.m * s.n, s.batch,
            compute_type(dtype, precision()), CUBLAS_GEMM_DEFAULT),
        "multiply batches of matrices");
  }
};

#endif

template <class K>
std::unique_ptr<Kernel> make(const Node& node) {
  return std::make_unique<K>(node);
}

#ifdef ACTORFLOW_CUDA
constexpr KernelMaker make_cuda = make<CudaBatchMatMul>;
#else
constexpr KernelMaker make_cuda = nullptr;
#endif

}  // namespace

Output batch_matmul(Output a, Output b, bool transpose_a, bool transpose_b) {
  return add_node(batch_matmul_op(), {a, b},
                  {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

std::vector<Op> batch_matmul_ops() { return {{&batch_matmul_op(), make<CpuBatchMatMul>, make_cuda}}; }

}  // namespace actorflow
