// SimpleRnn, Lstm and Gru over whole sequences, and their gradients.
//
// An op for a sequence, and not a graph with nodes for each step, which takes three times as much
// processor time: kernels/DECISIONS.md, "Recurrent cells".
#include "kernels/recurrent/recurrent.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "dataflow/graph/precision.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/ops.h"
#include "kernels/recurrent/passes.h"

namespace actorflow {
namespace {

using namespace recurrent;  // NOLINT: the cells

constexpr const char* activations = "an activation of 'tanh', 'sigmoid', 'relu' or 'linear'";

// Calls body(f) with the function of that name; false if there is none.
template <class Body>
bool with_activation(const std::string& name, const Body& body) {
  if (name == "tanh") return body(Tanh()), true;
  if (name == "sigmoid") return body(Sigmoid()), true;
  if (name == "relu") return body(Rectified()), true;
  if (name == "linear") return body(Linear()), true;
  return false;
}

void expect_shape(const InferContext& c, int input, const Shape& shape) {
  if (!c.input(input).shape.compatible_with(shape))
    c.fail("input " + std::to_string(input) + " of shape " + shape.to_string(),
           c.input(input).to_string());
}

// [steps, batch, times * units].
Shape sequence_of(const InferContext& c, std::int64_t times) {
  const Shape &like = c.input(0).shape, &weights = c.input(1).shape;
  const std::int64_t units = weights.has_rank() ? weights[0] : Shape::unknown;
  return {like.has_rank() ? like[0] : Shape::unknown, like.has_rank() ? like[1] : Shape::unknown,
          units == Shape::unknown ? Shape::unknown : times * units};
}

// Inputs: a sequence, `times` units wide; the weights; `inputs` in all without the mask.
template <class Cell>
void expect_recurrent(const InferContext& c, std::int64_t times, int inputs) {
  expect_precision(c);
  if (!with_activation(c.attr<std::string>("activation"), [](auto) {}))
    c.fail(activations, "'" + c.attr<std::string>("activation") + "'");
  expect_dtype_in<FloatingTypes>(c, 0);
  for (int i = 1; i < inputs; ++i) c.expect_dtype(i, c.input(0).dtype);
  c.expect_rank(0, 3);
  c.expect_rank(1, 2);
  expect_shape(c, 0, sequence_of(c, times));
  const Shape& weights = c.input(1).shape;
  if (weights.has_rank() && weights[0] != Shape::unknown)
    expect_shape(c, 1, {weights[0], Cell::gates * weights[0]});
  if (c.inputs() == inputs) return;
  c.expect_dtype(inputs, DType::boolean);
  const Shape steps = sequence_of(c, 1);
  expect_shape(c, inputs, {steps[0], steps[1]});
}

// Without the mask: inputs, weights[, biases]; gradient, weights, result[, saved values].
template <class Cell>
constexpr int forward_inputs = Cell::has_bias ? 3 : 2;
template <class Cell>
constexpr int backward_inputs = Cell::saved > 0 ? 4 : 3;

template <class Cell>
void infer_forward(InferContext& c) {
  expect_recurrent<Cell>(c, Cell::gates, forward_inputs<Cell>);
  const Shape steps = sequence_of(c, 1);
  if (Cell::has_bias)
    expect_shape(c, 2, {steps[2] == Shape::unknown ? Shape::unknown : Cell::gates * steps[2]});
  c.add_output(c.input(0).dtype, steps);
  if (Cell::saved > 0) c.add_output(c.input(0).dtype, sequence_of(c, Cell::saved));
}

template <class Cell>
void infer_backward(InferContext& c) {
  expect_recurrent<Cell>(c, 1, backward_inputs<Cell>);
  expect_shape(c, 2, sequence_of(c, 1));
  if (Cell::saved > 0) expect_shape(c, 3, sequence_of(c, Cell::saved));
  for (int i = 0; i < (Cell::has_bias ? 2 : 1); ++i)
    c.add_output(c.input(0).dtype, sequence_of(c, Cell::gates));
}

// What the kernels of both directions have in common.
class RecurrentKernel : public Kernel {
 public:
  RecurrentKernel(const Node& node, std::unique_ptr<Product> product)
      : product_(std::move(product)),
        activation_(attr<std::string>(node, "activation")),
        backwards_(attr<bool>(node, "backwards")) {}

 protected:
  // Of inputs 0 and 1, of which the first is `times` units wide; the mask may be input `mask`.
  Sequence sequence_of(const OpContext& c, std::int64_t times, std::int64_t gates, int mask) const {
    const Tensor &first = c.input(0), &weights = c.input(1);
    const bool ranks = first.shape().rank() == 3 && weights.shape().rank() == 2;
    const std::int64_t units = ranks ? weights.shape()[0] : 0;
    if (!ranks || first.shape()[2] != times * units || weights.shape()[1] != gates * units ||
        weights.dtype() != first.dtype())
      c.fail("a sequence [steps, batch, ...] and weights [units, ...] of its cell",
             first.describe() + " and " + weights.describe());
    const Sequence s{first.shape()[0], first.shape()[1], units, backwards_, nullptr};
    if (c.inputs() <= mask) return s;
    expect(c, mask, DType::boolean, {s.steps, s.batch});
    return {s.steps, s.batch, units, backwards_, data_of<bool>(c.input(mask))};
  }

  static void expect(const OpContext& c, int input, DType dtype, const Shape& shape) {
    if (c.input(input).dtype() != dtype || c.input(input).shape() != shape)
      c.fail("input " + std::to_string(input) + " of shape " + shape.to_string(),
             c.input(input).describe());
  }

  std::unique_ptr<Product> product_;
  std::string activation_;
  bool backwards_;
};

template <template <class> class Cell>
class Forward final : public RecurrentKernel {
 public:
  using RecurrentKernel::RecurrentKernel;

  void compute(OpContext& c) const override {
    using Sizes = Cell<Tanh>;
    const Tensor& inputs = c.input(0);
    const Sequence s = sequence_of(c, Sizes::gates, Sizes::gates, forward_inputs<Sizes>);
    if (Sizes::has_bias) expect(c, 2, inputs.dtype(), Shape({Sizes::gates * s.units}));
    dispatch<FloatingTypes>(c, inputs, [&]<class T>() {
      Tensor& h = c.allocate_output(0, inputs.dtype(), {s.steps, s.batch, s.units});
      T* saved = nullptr;
      if (Sizes::saved > 0)
        saved = mutable_data_of<T>(
            c.allocate_output(1, inputs.dtype(), {s.steps, s.batch, Sizes::saved * s.units}));
      if (h.elements() == 0) return;
      const ForwardTensors<T> all{.sequence = s,
                                  .inputs = data_of<T>(inputs),
                                  .bias = Sizes::has_bias ? data_of<T>(c.input(2)) : nullptr,
                                  .saved = saved,
                                  .h = mutable_data_of<T>(h)};
      with_activation(activation_,
                      [&]<class F>(F f) { pass_forward(c, *product_, c.input(1), Cell<F>{f}, all); });
    });
  }
};

template <template <class> class Cell>
class Backward final : public RecurrentKernel {
 public:
  using RecurrentKernel::RecurrentKernel;

  void compute(OpContext& c) const override {
    using Sizes = Cell<Tanh>;
    const Tensor& g = c.input(0);
    const Sequence s = sequence_of(c, 1, Sizes::gates, backward_inputs<Sizes>);
    expect(c, 2, g.dtype(), g.shape());
    if (Sizes::saved > 0) expect(c, 3, g.dtype(), {s.steps, s.batch, Sizes::saved * s.units});
    const Shape gates{s.steps, s.batch, Sizes::gates * s.units};
    dispatch<FloatingTypes>(c, g, [&]<class T>() {
      const auto output = [&](int i) {
        return mutable_data_of<T>(c.allocate_output(i, g.dtype(), gates));
      };
      const BackwardTensors<T> all{.sequence = s,
                                   .g = data_of<T>(g),
                                   .h = data_of<T>(c.input(2)),
                                   .saved = Sizes::saved > 0 ? data_of<T>(c.input(3)) : nullptr,
                                   .inputs = output(0),
                                   .recurrent = Sizes::has_bias ? output(1) : nullptr};
      if (g.elements() == 0) return;
      with_activation(activation_,
                      [&]<class F>(F f) { pass_backward(c, *product_, c.input(1), Cell<F>{f}, all); });
    });
  }
};

template <class Made, ProductMaker make_product>
std::unique_ptr<Kernel> make(const Node& node) {
  return std::make_unique<Made>(node, make_product(node));
}

template <class Made>
Op with_kernels(const OpDef& def) {
#ifdef ACTORFLOW_CUDA
  return {&def, make<Made, make_cpu_product>, make<Made, make_cuda_product>};
#else
  return {&def, make<Made, make_cpu_product>, nullptr};
#endif
}

// The attributes of the product are those that its kernel reads.
std::vector<AttrDef> recurrent_attrs(bool transpose_weights) {
  return {{"activation", std::string("tanh")},
          {"backwards", false},
          {"transpose_a", false},
          {"transpose_b", transpose_weights},
          precision_attr()};
}

// The state before each step: zeros before the first one.
Output states_before(Output h, bool backwards) {
  const std::int64_t steps = h.shape()[0];
  const Output others = slice(h, {backwards ? 1 : 0, 0, 0}, {steps - 1, -1, -1});
  return pad(others, {backwards ? 0 : 1, 0, 0}, {backwards ? 1 : 0, 0, 0});
}

// The products of all steps are one for the gradient of the weights.
Output gradient_of_weights(Output h, Output recurrent, bool backwards) {
  const std::int64_t units = h.shape()[2], width = recurrent.shape()[2];
  return matmul(reshape(states_before(h, backwards), {-1, units}), reshape(recurrent, {-1, width}),
                true);
}

template <class Cell>
std::vector<Output> recurrent_gradient(GradientContext& c, const OpDef& backward) {
  if (Cell::saved > 0 && c.gradient(1)) return no_gradient_yet(c);
  const bool backwards = c.attr<bool>("backwards"),
             has_mask = static_cast<int>(c.node().inputs.size()) > forward_inputs<Cell>;
  const Output h = c.output(0);
  std::vector<Output> inputs{c.gradient(0), c.input(1), h};
  if (Cell::saved > 0) inputs.push_back(c.output(1));
  if (has_mask) inputs.push_back(c.input(forward_inputs<Cell>));
  const Output grad = c.graph().add(
      backward, inputs, {{"activation", c.attr<std::string>("activation")}, {"backwards", backwards}});
  const Output recurrent = Cell::has_bias ? grad.output(1) : grad;
  std::vector<Output> gradients{grad, gradient_of_weights(h, recurrent, backwards)};
  if (Cell::has_bias) gradients.push_back(sum(recurrent, {0, 1}));
  if (has_mask) gradients.emplace_back();
  return gradients;
}

// The ops of a cell, forward and backward.
template <class Cell>
OpDef forward_op(std::string_view name, std::vector<Output> (*gradient)(GradientContext&)) {
  return {.name = name,
          .min_inputs = forward_inputs<Cell>,
          .max_inputs = forward_inputs<Cell> + 1,
          .attrs = recurrent_attrs(false),
          .infer = infer_forward<Cell>,
          .gradient = gradient};
}
template <class Cell>
OpDef backward_op(std::string_view name) {
  return {.name = name,
          .min_inputs = backward_inputs<Cell>,
          .max_inputs = backward_inputs<Cell> + 1,
          .attrs = recurrent_attrs(true),
          .infer = infer_backward<Cell>,
          .gradient = no_gradient_yet};
}

const OpDef& simple_grad_op() {
  static const OpDef op = backward_op<SimpleCell<Tanh>>("SimpleRnnGrad");
  return op;
}
const OpDef& simple_op() {
  static const OpDef op = forward_op<SimpleCell<Tanh>>("SimpleRnn", [](GradientContext& c) {
    return recurrent_gradient<SimpleCell<Tanh>>(c, simple_grad_op());
  });
  return op;
}

const OpDef& lstm_grad_op() {
  static const OpDef op = backward_op<LstmCell<Tanh>>("LstmGrad");
  return op;
}
const OpDef& lstm_op() {
  static const OpDef op = forward_op<LstmCell<Tanh>>(
      "Lstm", [](GradientContext& c) { return recurrent_gradient<LstmCell<Tanh>>(c, lstm_grad_op()); });
  return op;
}

const OpDef& gru_grad_op() {
  static const OpDef op = backward_op<GruCell<Tanh>>("GruGrad");
  return op;
}
const OpDef& gru_op() {
  static const OpDef op = forward_op<GruCell<Tanh>>(
      "Gru", [](GradientContext& c) { return recurrent_gradient<GruCell<Tanh>>(c, gru_grad_op()); });
  return op;
}

Output over_steps(const OpDef& op, std::vector<Output> inputs, const RecurrentOptions& options) {
  if (options.mask) inputs.push_back(options.mask);
  return add_node(op, inputs, {{"activation", options.activation}, {"backwards", options.backwards}});
}

}  // namespace

Output simple_rnn(Output inputs, Output recurrent, const RecurrentOptions& options) {
  return over_steps(simple_op(), {inputs, recurrent}, options);
}

Output lstm(Output inputs, Output recurrent, const RecurrentOptions& options) {
  return over_steps(lstm_op(), {inputs, recurrent}, options);
}

Output gru(Output inputs, Output recurrent, Output recurrent_biases, const RecurrentOptions& options) {
  return over_steps(gru_op(), {inputs, recurrent, recurrent_biases}, options);
}

std::vector<Op> recurrent_ops() {
  return {with_kernels<Forward<SimpleCell>>(simple_op()),
          with_kernels<Backward<SimpleCell>>(simple_grad_op()),
          with_kernels<Forward<LstmCell>>(lstm_op()),
          with_kernels<Backward<LstmCell>>(lstm_grad_op()),
          with_kernels<Forward<GruCell>>(gru_op()),
          with_kernels<Backward<GruCell>>(gru_grad_op())};
}

}  // namespace actorflow
