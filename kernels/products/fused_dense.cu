// The ops that fusion puts in the place of a dense layer's: FusedMatMul for MatMul, BiasAdd and Relu,
// ReluBiasGrad for ReluGrad and BiasAddGrad. They give the same bits as the ops that they replace.
//
// Bias and relu are a pass over the product while it is in the cache, but for a bias alone on a GPU, which
// cuBLASLt adds to the product (lt_matmul.h). oneDNN's post-ops would save nothing measurable
// (bench/kernels/matmul.cpp) and turn NaN into 0.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/core/fusions.h"
#include "kernels/loops/columns.h"
#include "kernels/loops/relu.h"
#include "kernels/loops/vectorised.h"
#include "kernels/products/matmul.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/add_bias.h"
#endif

namespace actorflow {
namespace {

void infer_fused_matmul(InferContext& c) {
  expect_dtype_in<FloatingTypes>(c, 0);
  infer_matmul(c);
  c.expect_rank(2, 1);
}

// (a, b, bias) -> a b + bias, rectified if the attribute relu says so.
const OpDef& fused_matmul_op() {
  static const OpDef op{
      .name = "FusedMatMul",
      .min_inputs = 3,
      .max_inputs = 3,
      .attrs = {{"transpose_a", false}, {"transpose_b", false}, {"relu", false}, precision_attr()},
      .infer = infer_fused_matmul};
  return op;
}

void infer_relu_bias_grad(InferContext& c) {
  expect_rows(c);
  c.expect_same_dtype();
  const Shape &g = c.input(0).shape, &y = c.input(1).shape;
  if (!g.compatible_with(y)) c.fail("a gradient of the shape of the output", g.to_string());
  const Shape shape = g.merge(y);
  c.add_output(c.input(0).dtype, shape);
  c.add_output(c.input(0).dtype, {shape.has_rank() ? shape[shape.rank() - 1] : Shape::unknown});
}

// (g, y) -> (the gradient before the relu, the sums of its columns), of the gradient g of the output y.
const OpDef& relu_bias_grad_op() {
  static const OpDef op{
      .name = "ReluBiasGrad", .min_inputs = 2, .max_inputs = 2, .infer = infer_relu_bias_grad};
  return op;
}

// x = f(x + bias), with the bias of the element's column.
template <class F, class T>
void add_bias_on_cpu(Rows size, const T* bias, T* x) {
  vectorised([=] {
    for (std::int64_t row = 0; row < size.rows; ++row) {
      T* values = x + row * size.columns;
#pragma GCC ivdep
      for (std::int64_t j = 0; j < size.columns; ++j) values[j] = F()(values[j] + bias[j]);
    }
  });
}

template <class F, class T>
void add_bias(const OpContext& c, Rows size, const T* bias, T* x) {
  const std::int64_t columns = size.columns;
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda) return add_bias_on_cuda<F>(c.device(), size, x, bias, x);
#endif
  constexpr std::int64_t elements_per_part = 1 << 16;
  share_out(c.team(), Shares(size.rows, size.rows * columns / elements_per_part, 64),
            [&](std::int64_t first, std::int64_t last) {
              add_bias_on_cpu<F>({last - first, columns}, bias, x + first * columns);
            });
}

class FusedMatMul final : public Kernel {
 public:
  FusedMatMul(const Node& node, std::unique_ptr<Product> product)
      : product_(std::move(product)), relu_(attr<bool>(node, "relu")) {}

  void compute(OpContext& c) const override {
    const bool needs_a_pass = leaves_the_bias(c);
    Tensor& output = c.output(0);
    const Tensor& bias = c.input(2);
    const Rows size = rows_of(c, output);
    if (bias.dtype() != output.dtype() || bias.shape() != Shape({size.columns}))
      c.fail("a bias with one value per column", output.describe() + " and " + bias.describe());
    if (!needs_a_pass) return;
    dispatch<FloatingTypes>(c, output, [&]<class T>() {
      const auto add = relu_ ? add_bias<Relu, T> : add_bias<Same, T>;
      add(c, size, static_cast<const T*>(bias.data()), static_cast<T*>(output.mutable_data()));
    });
  }

 private:
  // False if it has also added the bias. cuBLASLt's relu is not used, since nothing says what it makes of
  // NaN; with a relu of our own to come, the bias is added by that pass.
  bool leaves_the_bias(OpContext& c) const {
    if (!relu_) return !product_->compute_with_bias(c, c.input(2));
    product_->compute(c);
    return true;
  }

  std::unique_ptr<Product> product_;
  bool relu_;
};

template <ProductMaker make_product>
std::unique_ptr<Kernel> make_fused_matmul(const Node& node) {
  return std::make_unique<FusedMatMul>(node, make_product(node));
}

// The gradient before the relu, stored on its way into the sums; the output may be g.
template <class T>
struct StoredReluGrad {
  const T *g, *y;
  T* output;
  const T* run(std::int64_t first, std::int64_t count) const {
#pragma GCC ivdep
    for (std::int64_t i = first; i < first + count; ++i) output[i] = ReluGrad()(g[i], y[i]);
    return output + first;
  }
#ifdef ACTORFLOW_CUDA
  template <int n>
  struct Loaded {
    Pack<T, n> g, y;
  };
  bool aligned() const { return in_fours(4, g, y, output); }
  template <int n, bool aligned>
  __device__ Loaded<n> load(std::int64_t i) const {
    return {load_elements<n, aligned>(g + i), load_elements<n, aligned>(y + i)};
  }
  template <int n, bool aligned>
  __device__ Pack<T, n> take(std::int64_t i, const Loaded<n>& loaded) const {
    Pack<T, n> gradient;
#pragma unroll
    for (int k = 0; k < n; ++k) gradient.values[k] = ReluGrad()(loaded.g.values[k], loaded.y.values[k]);
    store_elements<aligned>(output + i, gradient);
    return gradient;
  }
#endif
};

void compute_relu_bias_grad(OpContext& c) {
  const Tensor &g = c.input(0), &y = c.input(1);
  const Rows size = rows_of(c, g);
  if (g.dtype() != y.dtype() || g.shape() != y.shape())
    c.fail("a gradient of the type of the output", g.describe() + " and " + y.describe());
  dispatch<FloatingTypes>(c, g, [&]<class T>() {
    Tensor& output = c.forward_or_allocate(0, 0, g.dtype(), g.shape());
    Tensor& sums = c.allocate_output(1, g.dtype(), {size.columns});
    const StoredReluGrad<T> gradient{static_cast<const T*>(g.data()), static_cast<const T*>(y.data()),
                                     static_cast<T*>(output.mutable_data())};
    sum_columns(c, size, gradient, static_cast<T*>(sums.mutable_data()));
  });
}

// In 16 bits each op rounds its result, and one op for all would not.
bool rounds_in_between(const FusionContext& graph, NodeId bias) {
  return is_short_floating(graph.node(bias).outputs[0].dtype);
}

}  // namespace

std::optional<Fused> fuse_matmul(const FusionContext& graph, NodeId last) {
  const bool relu = graph.node(last).op->name == "Relu";
  const auto bias = relu ? graph.producer(last, 0, "BiasAdd") : last;
  if (!bias || graph.node(*bias).op->name != "BiasAdd" || rounds_in_between(graph, *bias))
    return std::nullopt;
  const auto product = graph.producer(*bias, 0, "MatMul");
  if (!product) return std::nullopt;
  const Node& matmul = graph.node(*product);
  Fused fused{.replaced = {*product, *bias},
              .op = &fused_matmul_op(),
              .attrs = matmul.attrs,
              .inputs = {matmul.inputs[0], matmul.inputs[1], graph.node(*bias).inputs[1]},
              .outputs = {{last, 0}}};
  if (relu) fused.replaced.push_back(last);
  fused.attrs["relu"] = relu;
  return fused;
}

std::optional<Fused> fuse_relu_bias_grad(const FusionContext& graph, NodeId last) {
  if (graph.node(last).op->name != "BiasAddGrad" || rounds_in_between(graph, last)) return std::nullopt;
  const auto relu_grad = graph.producer(last, 0, "ReluGrad");
  if (!relu_grad) return std::nullopt;
  return Fused{.replaced = {*relu_grad, last},
               .op = &relu_bias_grad_op(),
               .inputs = graph.node(*relu_grad).inputs,
               .outputs = {{*relu_grad, 0}, {last, 0}}};
}

std::vector<Op> fused_dense_ops() {
#ifdef ACTORFLOW_CUDA
  constexpr KernelMaker on_cuda = make_fused_matmul<make_cuda_product>;
#else
  constexpr KernelMaker on_cuda = nullptr;
#endif
  return {{&fused_matmul_op(), make_fused_matmul<make_cpu_product>, on_cuda},
          on_all_devices<compute_relu_bias_grad>(relu_bias_grad_op())};
}

}  // namespace actorflow
