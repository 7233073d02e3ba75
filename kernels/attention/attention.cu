// DotProductAttention and its gradient.
#include <memory>
#include <string>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/attention_cpu.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/attention/attention_cuda.h"
#endif

namespace actorflow {
namespace {

constexpr const char* expected_shapes =
    "a query [batch, queries, heads, width], and a key and a value [batch, keys, heads, width]";

// Inputs 0 to 2 are query, key and value.
void expect_attention(const InferContext& c, int first) {
  const Shape &query = c.input(first).shape, &key = c.input(first + 1).shape;
  for (int i = first; i < first + 3; ++i) c.expect_rank(i, 4);
  if (!query.has_rank() || !key.has_rank()) return;
  const Shape as_key({query[0], key[1], query[2], query[3]});
  if (!as_key.compatible_with(key) || !key.compatible_with(c.input(first + 2).shape))
    c.fail(expected_shapes, c.input(first).to_string() + ", " + c.input(first + 1).to_string() +
                                " and " + c.input(first + 2).to_string());
}

// Of the gradient's inputs: those that are like the query, and those that lack its last dimension.
void expect_attention_results(const InferContext& c) {
  const Shape& query = c.input(1).shape;
  if (!query.has_rank()) return;
  const Shape rows({query[0], query[1], query[2]});
  const auto expect = [&c](int i, const Shape& shape) {
    if (!c.input(i).shape.compatible_with(shape))
      c.fail("input " + std::to_string(i) + " of shape " + shape.to_string(), c.input(i).to_string());
  };
  expect(0, query);
  expect(4, query);
  for (int i = 5; i < c.inputs(); ++i) expect(i, rows);
}

void infer_attention(InferContext& c) {
  expect_precision(c);
  expect_dtype_in<FloatingTypes>(c, 0);
  c.expect_same_dtype();
  expect_attention(c, 0);
  const Shape& query = c.input(0).shape;
  c.add_output(c.input(0).dtype, query);
  c.add_output(c.input(0).dtype,
               query.has_rank() ? Shape({query[0], query[1], query[2]}) : Shape::unknown_rank());
}

void infer_attention_grad(InferContext& c) {
  expect_precision(c);
  expect_dtype_in<FloatingTypes>(c, 0);
  c.expect_same_dtype();
  expect_attention(c, 1);
  expect_attention_results(c);
  for (int i = 1; i <= 3; ++i) c.add_output(c.input(0).dtype, c.input(i).shape);
}

// (g, query, key, value, output, logsumexp, the gradient of the logsumexp if there is one) -> the
// gradients of query, key and value.
const OpDef& attention_grad_op() {
  static const OpDef op{.name = "DotProductAttentionGrad",
                        .min_inputs = 6,
                        .max_inputs = 7,
                        .attrs = {{"causal", false}, precision_attr()},
                        .infer = infer_attention_grad,
                        .gradient = no_gradient_yet};
  return op;
}

std::vector<Output> attention_gradient(GradientContext& c) {
  const Output g = c.gradient(0) ? c.gradient(0) : zeros_like(c.output(0));
  std::vector<Output> inputs{g, c.input(0), c.input(1), c.input(2), c.output(0), c.output(1)};
  if (c.gradient(1)) inputs.push_back(c.gradient(1));
  const Output grad = c.graph().add(attention_grad_op(), inputs, {{"causal", c.attr<bool>("causal")}});
  return {grad, grad.output(1), grad.output(2)};
}

// (query, key, value) -> output, logsumexp (attention.h).
const OpDef& attention_op() {
  static const OpDef op{.name = "DotProductAttention",
                        .min_inputs = 3,
                        .max_inputs = 3,
                        .attrs = {{"causal", false}, precision_attr()},
                        .infer = infer_attention,
                        .gradient = attention_gradient};
  return op;
}

// Of a query, a key and a value that begin with input `first`.
AttentionSize size_of_attention(OpContext& c, int first, bool causal) {
  const Shape &query = c.input(first).shape(), &key = c.input(first + 1).shape(),
              &value = c.input(first + 2).shape();
  const bool fits = query.rank() == 4 && key.rank() == 4 && key == value && query[0] == key[0] &&
                    query[2] == key[2] && query[3] == key[3];
  if (!fits)
    c.fail(expected_shapes, c.input(first).describe() + ", " + c.input(first + 1).describe() + " and " +
                                c.input(first + 2).describe());
  if (key[1] == 0 && c.input(first).elements() > 0)
    c.fail("at least one key to look at", c.input(first + 1).describe());
  return {query[0], query[1], key[1], query[2], query[3], causal};
}

void expect_shape(OpContext& c, int input, const Shape& shape) {
  if (c.input(input).shape() != shape)
    c.fail("input " + std::to_string(input) + " of shape " + shape.to_string(),
           c.input(input).describe());
}

template <class T>
const T* data(OpContext& c, int input) {
  return static_cast<const T*>(c.input(input).data());
}

template <class T>
T* allocate(OpContext& c, int output, const Shape& shape) {
  return static_cast<T*>(c.allocate_output(output, dtype_of<T>, shape).mutable_data());
}

template <class T>
AttentionForward<T> prepare_forward(OpContext& c, bool causal) {
  const AttentionSize size = size_of_attention(c, 0, causal);
  T* const output = allocate<T>(c, 0, c.input(0).shape());
  T* const logsumexp = allocate<T>(c, 1, {size.batch, size.queries, size.heads});
  return {size, data<T>(c, 0), data<T>(c, 1), data<T>(c, 2), output, logsumexp};
}

template <class T>
AttentionBackward<T> prepare_backward(OpContext& c, bool causal) {
  const AttentionSize size = size_of_attention(c, 1, causal);
  expect_shape(c, 0, c.input(1).shape());
  expect_shape(c, 4, c.input(1).shape());
  for (int i = 5; i < c.inputs(); ++i) expect_shape(c, i, {size.batch, size.queries, size.heads});
  const T* const logsumexp_gradient = c.inputs() > 6 ? data<T>(c, 6) : nullptr;
  T *const query = allocate<T>(c, 0, c.input(1).shape()),
           *const key = allocate<T>(c, 1, c.input(2).shape()),
           *const value = allocate<T>(c, 2, c.input(2).shape());
  return {size,          data<T>(c, 0),      data<T>(c, 1), data<T>(c, 2), data<T>(c, 3), data<T>(c, 4),
          data<T>(c, 5), logsumexp_gradient, query,         key,           value};
}

// Kernels of both devices and both directions. Devices have run(c, forward) and run(c, backward).
template <class OnDevice, bool backward>
class Attention final : public Kernel {
 public:
  explicit Attention(const Node& node)
      : causal_(attr<bool>(node, "causal")), on_device_(precision_of(node)) {}

  void compute(OpContext& c) const override {
    dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
      for (int i = 1; i < c.inputs(); ++i)
        if (c.input(i).dtype() != dtype_of<T>)
          c.fail("inputs of one dtype", c.input(0).describe() + " and " + c.input(i).describe());
      if constexpr (backward)
        run(c, prepare_backward<T>(c, causal_));
      else
        run(c, prepare_forward<T>(c, causal_));
    });
  }

 private:
  template <class Task>
  void run(OpContext& c, const Task& task) const {
    const AttentionSize& s = task.size;
    if (s.batch > 0 && s.heads > 0 && s.width > 0 && s.queries > 0)
      on_device_.run(c, task);
    else
      for (int i = 0; i < c.outputs(); ++i) clear(c.device(), c.output(i));
  }

  const bool causal_;
  const OnDevice on_device_;
};

template <class K>
std::unique_ptr<Kernel> make(const Node& node) {
  return std::make_unique<K>(node);
}

template <bool backward>
Op on_devices(const OpDef& def) {
#ifdef ACTORFLOW_CUDA
  return {&def, make<Attention<CpuAttention, backward>>, make<Attention<CudaAttention, backward>>};
#else
  return {&def, make<Attention<CpuAttention, backward>>, nullptr};
#endif
}

}  // namespace

Output dot_product_attention(Output query, Output key, Output value, bool causal) {
  return add_node(attention_op(), {query, key, value}, {{"causal", causal}});
}

std::vector<Op> attention_ops() {
  return {on_devices<false>(attention_op()), on_devices<true>(attention_grad_op())};
}

}  // namespace actorflow
