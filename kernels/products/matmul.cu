// MatMul of two matrices: oneDNN for float32 and a blocked loop for float64 on a CPU, cuBLAS on a GPU.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#include "kernels/products/bfloat16.h"
#include "kernels/products/matmul.h"
#include "kernels/products/onednn_matmul.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cublas.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/products/lt_matmul.h"
#endif

namespace actorflow {
namespace {

// The rows and columns of a matrix after op.
std::pair<std::int64_t, std::int64_t> dims_of(const Shape& shape, bool transpose) {
  if (!shape.has_rank()) return {Shape::unknown, Shape::unknown};
  return transpose ? std::pair{shape[1], shape[0]} : std::pair{shape[0], shape[1]};
}

std::string described(const std::string& a, const std::string& b, bool transpose_a, bool transpose_b) {
  return a + (transpose_a ? " transposed" : "") + " and " + b + (transpose_b ? " transposed" : "");
}

// With g the gradient of the output: da = g b^T, db = a^T g, transposed where the input was.
std::vector<Output> matmul_gradient(GradientContext& c) {
  const bool ta = c.attr<bool>("transpose_a");
  const bool tb = c.attr<bool>("transpose_b");
  const Output a = c.input(0), b = c.input(1), g = c.gradient();
  return {ta ? matmul(b, g, tb, true) : matmul(g, b, false, !tb),
          tb ? matmul(g, a, true, ta) : matmul(a, g, !ta, false)};
}

const OpDef& matmul_op() {
  static const OpDef op{.name = "MatMul",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"transpose_a", false}, {"transpose_b", false}, precision_attr()},
                        .infer = infer_matmul,
                        .gradient = matmul_gradient};
  return op;
}

// A matrix after op, as a plain pointer with strides.
struct MatrixView {
  const double* data;
  std::int64_t row_stride, column_stride;
};

MatrixView view(const Tensor& tensor, bool transpose) {
  const std::int64_t width = tensor.shape()[1];
  const auto* data = static_cast<const double*>(tensor.data());
  return transpose ? MatrixView{data, 1, width} : MatrixView{data, width, 1};
}

// A block of b, gathered row by row, that stays in the first-level cache.
constexpr std::int64_t block = 64;
struct PackedBlock {
  alignas(64) double values[block][block];

  void gather(const MatrixView& b, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t p = 0; p < rows; ++p)
      for (std::int64_t j = 0; j < columns; ++j)
        values[p][j] = b.data[p * b.row_stride + j * b.column_stride];
  }
};

// output[m,columns] += a[m,rows] times the packed [rows,columns].
void multiply_block(const MatrixView& a, const PackedBlock& b, std::int64_t m, std::int64_t rows,
                    std::int64_t columns, double* output, std::int64_t output_stride) {
  for (std::int64_t i = 0; i < m; ++i) {
    double* __restrict sums = output + i * output_stride;
    for (std::int64_t p = 0; p < rows; ++p) {
      const double factor = a.data[i * a.row_stride + p * a.column_stride];
      for (std::int64_t j = 0; j < columns; ++j) sums[j] += factor * b.values[p][j];
    }
  }
}

void multiply_float64(const MatMulShape& s, const MatrixView& a, const MatrixView& b, double* output) {
  std::fill_n(output, s.m * s.n, 0.0);
  PackedBlock packed;
  for (std::int64_t p = 0; p < s.k; p += block)
    for (std::int64_t j = 0; j < s.n; j += block) {
      const std::int64_t rows = std::min(block, s.k - p), columns = std::min(block, s.n - j);
      packed.gather({b.data + p * b.row_stride + j * b.column_stride, b.row_stride, b.column_stride},
                    rows, columns);
      multiply_block({a.data + p * a.column_stride, a.row_stride, a.column_stride}, packed, s.m, rows,
                     columns, output + j, s.n);
    }
}

void add_to(float* sum, const float* term, std::int64_t count) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) sum[i] += term[i];
  });
}

// What the kernels of both devices have in common.
class MatMul : public Product {
 public:
  explicit MatMul(const Node& node)
      : transpose_a_(attr<bool>(node, "transpose_a")),
        transpose_b_(attr<bool>(node, "transpose_b")),
        precision_(precision_of(node)) {}

  void compute(OpContext& context) const override {
    const MatMulShape shape = shape_of(context);
    const auto compute_product = [&](OpContext& c) {
      Tensor& output = c.allocate_output(0, c.input(0).dtype(), {shape.m, shape.n});
      if (output.elements() > 0) multiply(shape, c, output);
    };
    multiplies_short_floats() ? compute_product(context) : compute_in_float32(context, compute_product);
  }

 protected:
  // Does multiply() take float16 and bfloat16? Otherwise it gets float32 in their place.
  virtual bool multiplies_short_floats() const { return false; }
  virtual void multiply(const MatMulShape& shape, OpContext& context, Tensor& output) const = 0;
  Precision precision() const { return precision_; }

  MatMulShape shape_of(OpContext& context) const {
    const Tensor &a = context.input(0), &b = context.input(1);
    const bool matrices = a.shape().rank() == 2 && b.shape().rank() == 2;
    const auto [m, k] =
        matrices ? dims_of(a.shape(), transpose_a_) : std::pair<std::int64_t, std::int64_t>();
    const auto [k_of_b, n] =
        matrices ? dims_of(b.shape(), transpose_b_) : std::pair<std::int64_t, std::int64_t>();
    if (!matrices || k != k_of_b || a.dtype() != b.dtype() || !is_floating(a.dtype()))
      context.fail("two floating matrices whose inner dimensions agree",
                   described(a.describe(), b.describe(), transpose_a_, transpose_b_));
    return {m, k, n, transpose_a_, transpose_b_};
  }

 private:
  bool transpose_a_, transpose_b_;
  Precision precision_;
};

class CpuMatMul final : public MatMul {
 public:
  using MatMul::MatMul;

 private:
  void multiply(const MatMulShape& shape, OpContext& context, Tensor& output) const override {
    if (shape.k == 0)
      std::memset(output.mutable_data(), 0, output.size_bytes());
    else if (output.dtype() == DType::float32)
      multiply_float32(shape, context, output);
    else
      multiply_float64(shape, view(context.input(0), shape.transpose_a),
                       view(context.input(1), shape.transpose_b),
                       static_cast<double*>(output.mutable_data()));
  }

  void multiply_float32(const MatMulShape& shape, OpContext& context, Tensor& output) const {
    const MatMulParts parts(shape);
    const std::int64_t elements = output.elements();
    auto* const result = static_cast<float*>(output.mutable_data());
    BufferRef others;  // the terms but for the first
    if (parts.are_terms())
      others = context.scratch(static_cast<std::size_t>((parts.count() - 1) * elements) * sizeof(float));
    auto* const terms = others ? static_cast<float*>(others->data()) : nullptr;
    BufferRef rounded;
    Factors factors{context.input(0).data(), context.input(1).data()};
    if (rounds_to_bf16(precision(), shape.m, shape.k, shape.n))
      factors = round_to_bf16(context, factors, shape.m * shape.k, shape.k * shape.n, rounded);
    context.parallel(parts.count(), [&](int part) {
      float* target = terms && part > 0 ? terms + (part - 1) * elements : result;
      onednn_.multiply(shape, parts.block(part), factors, target, context.device().allocator());
    });
    for (int term = 1; terms && term < parts.count(); ++term)
      add_to(result, terms + (term - 1) * elements, elements);
  }

  OneDnnMatMul onednn_;
};

#ifdef ACTORFLOW_CUDA

// Where cuBLAS may round factors itself it does so for every tile anew: 8192^3 on an H100 took 2.8 ms
// so, 1.6 ms with factors that are bfloat16 already. Small products are not worth two more launches.
bool rounds_before(Precision precision, const MatMulShape& s) {
  constexpr std::int64_t worth = std::int64_t{1} << 30;
  return precision == Precision::bf16 && s.m * s.n * s.k >= worth;
}

// Products that layers add a bias to are cuBLASLt's, alone too, so that they have the same bits. A
// transposed a is of weights' gradients, whose sums are long: cuBLAS divides them as it likes.
bool is_for_cublas_lt(DType dtype, const MatMulShape& s) {
  return dtype == DType::float32 && !s.transpose_a;
}

class CudaMatMul final : public MatMul {
 public:
  using MatMul::MatMul;

  bool compute_with_bias(OpContext& context, const Tensor& bias) const override {
    const MatMulShape shape = shape_of(context);
    const DType dtype = context.input(0).dtype();
    const bool fits = bias.dtype() == dtype && bias.shape() == Shape({shape.n});
    Tensor& output = context.allocate_output(0, dtype, {shape.m, shape.n});
    return output.elements() > 0 && multiply_and_add(shape, context, fits ? bias.data() : nullptr, output);
  }

 private:
  bool multiplies_short_floats() const override { return true; }

  void multiply(const MatMulShape& shape, OpContext& context, Tensor& output) const override {
    multiply_and_add(shape, context, nullptr, output);
  }

  // Whether it has added the bias, which may be null.
  bool multiply_and_add(const MatMulShape& shape, OpContext& context, const void* bias,
                        Tensor& output) const {
    const CublasHandle handle(context.device());
    const DType dtype = output.dtype();
    if (shape.k == 0)
      check_cuda(
          cudaMemsetAsync(output.mutable_data(), 0, output.size_bytes(), cuda_stream(context.device())),
          "clear the product of empty matrices");
    else if (dtype == DType::float32 && rounds_before(precision(), shape))
      multiply_rounded(handle, shape, context, output);
    else if (const LtLaunched launched = launch_lt(handle, shape, context, bias, output);
             launched != LtLaunched::nothing)
      return launched == LtLaunched::sum;
    else
      multiply(handle, shape, dtype, context.input(0).data(), context.input(1).data(),
               compute_type(dtype, precision()), output);
    return false;
  }

  LtLaunched launch_lt(const CublasHandle& handle, const MatMulShape& shape, OpContext& context,
                       const void* bias, Tensor& output) const {
    if (!is_for_cublas_lt(output.dtype(), shape)) return LtLaunched::nothing;
    const auto floats = [](const void* data) { return static_cast<const float*>(data); };
    return launch_lt_matmul(handle, context.device(), shape, precision(),
                            {floats(context.input(0).data()), floats(context.input(1).data()),
                             floats(bias), static_cast<float*>(output.mutable_data())});
  }

  static void multiply_rounded(cublasHandle_t handle, const MatMulShape& s, OpContext& context,
                               Tensor& output) {
    const Tensor a = rounded(context.device(), context.input(0), DType::bfloat16);
    const Tensor b = rounded(context.device(), context.input(1), DType::bfloat16);
    multiply(handle, s, DType::bfloat16, a.data(), b.data(), CUBLAS_COMPUTE_32F, output);
  }

  // Factors of `dtype`. cuBLAS counts column by column, where our matrices look transposed: it
  // multiplies b^T a^T instead.
  static void multiply(cublasHandle_t handle, const MatMulShape& s, DType dtype, const void* a,
                       const void* b, cublasComputeType_t arithmetic, Tensor& output) {
    const auto op = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const ProductScales scales(dtype);
    check_cublas(cublas().gemm_ex(handle, op(s.transpose_b), op(s.transpose_a), s.n, s.m, s.k,
                                  scales.one(), b, cublas_type(dtype), s.transpose_b ? s.k : s.n, a,
                                  cublas_type(dtype), s.transpose_a ? s.m : s.k, scales.zero(),
                                  output.mutable_data(), cublas_type(output.dtype()), s.n, arithmetic,
                                  CUBLAS_GEMM_DEFAULT),
                 "multiply matrices");
  }
};

#endif

template <ProductMaker make_product>
std::unique_ptr<Kernel> make_matmul(const Node& node) {
  return make_product(node);
}

}  // namespace

void infer_matmul(InferContext& c) {
  c.expect_same_dtype();
  expect_precision(c);
  expect_dtype_in<AllFloatingTypes>(c, 0);
  c.expect_rank(0, 2);
  c.expect_rank(1, 2);
  const bool transpose_a = c.attr<bool>("transpose_a");
  const bool transpose_b = c.attr<bool>("transpose_b");
  const auto [m, k] = dims_of(c.input(0).shape, transpose_a);
  const auto [k_of_b, n] = dims_of(c.input(1).shape, transpose_b);
  if (!Shape({k}).compatible_with({k_of_b}))
    c.fail("matrices whose inner dimensions agree",
           described(c.input(0).to_string(), c.input(1).to_string(), transpose_a, transpose_b));
  c.add_output(c.input(0).dtype, {m, n});
}

std::unique_ptr<Product> make_cpu_product(const Node& node) { return std::make_unique<CpuMatMul>(node); }

#ifdef ACTORFLOW_CUDA
std::unique_ptr<Product> make_cuda_product(const Node& node) {
  return std::make_unique<CudaMatMul>(node);
}
#endif

Output matmul(Output a, Output b, bool transpose_a, bool transpose_b) {
  return add_node(matmul_op(), {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

std::vector<Op> matmul_ops() {
#ifdef ACTORFLOW_CUDA
  constexpr KernelMaker on_cuda = make_matmul<make_cuda_product>;
#else
  constexpr KernelMaker on_cuda = nullptr;
#endif
  return {{&matmul_op(), make_matmul<make_cpu_product>, on_cuda}};
}

}  // namespace actorflow
