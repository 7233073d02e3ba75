// Operators that work element by element.
#include <fmt/format.h>

#include <algorithm>

#include "actors/import/imported_node.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

using Unary = Output (*)(Output);
using Binary = Output (*)(Output, Output);

Output before_exchange(Output x) { return {x.graph, x.node().inputs[0]}; }

// Inputs of equal shapes whose dimensions were exchanged alike are computed as before the exchange, and
// the result is exchanged: the exchange then meets the next layer's opposite one, and both vanish.
template <class Compute>
Output per_element(const std::vector<Output>& inputs, Compute&& compute) {
  const auto* first = exchange_of(inputs[0]);
  const bool alike = first && std::ranges::all_of(inputs, [&](Output x) {
                       const auto* exchange = exchange_of(x);
                       return exchange && *exchange == *first && x.shape() == inputs[0].shape();
                     });
  if (!alike) return compute(inputs);
  const std::vector<std::int64_t> exchange = *first;  // a copy: the graph grows
  std::vector<Output> before;
  for (const Output& x : inputs) before.push_back(before_exchange(x));
  return exchanged(compute(before), exchange);
}

template <class Compute>
Output per_element_of(ImportedNode& n, Compute&& compute) {
  return per_element({n.input(0)}, [&](const auto& x) { return compute(x[0]); });
}

OnnxImport as(Unary op) {
  return [op](ImportedNode& n) { return per_element_of(n, op); };
}

OnnxImport as(Binary op) {
  return [op](ImportedNode& n) {
    return per_element({n.input(0), n.input(1)}, [op](const auto& x) { return op(x[0], x[1]); });
  };
}

// An operator of one input or more: folds them from left to right.
OnnxImport as_fold(Binary op) {
  return [op](ImportedNode& n) {
    return per_element(n.all_inputs(), [op](const auto& inputs) {
      Output all = inputs[0];
      for (std::size_t i = 1; i < inputs.size(); ++i) all = op(all, inputs[i]);
      return all;
    });
  };
}

Output reciprocal(Output x) { return 1.0 / x; }

// Base and exponent may have two types; the result has the base's.
Output power(ImportedNode& n) { return pow(n.input(0), cast(n.input(1), n.input(0).dtype())); }

Output select_import(ImportedNode& n) { return select(n.input(0), n.input(1), n.input(2)); }

Output cast_import(ImportedNode& n) {
  const DType dtype = onnx_dtype(static_cast<int>(n.integer("to", 0)));
  if (dtype == DType::invalid || dtype == DType::string)
    n.refuse(fmt::format("there is no cast to ONNX's type {}", n.integer("to", 0)));
  return per_element_of(n, [dtype](Output x) { return cast(x, dtype); });
}

Output clip_import(ImportedNode& n) {
  return per_element_of(n, [&n](Output x) {
    if (n.has(1)) x = maximum(x, scalar_like(x, n.number(1)));
    return n.has(2) ? minimum(x, scalar_like(x, n.number(2))) : x;
  });
}

Output leaky_relu_import(ImportedNode& n) {
  const double slope = n.number("alpha", 0.01);
  return per_element_of(n, [slope](Output x) { return leaky_relu(x, slope); });
}

Output elu_import(ImportedNode& n) {
  const double alpha = n.number("alpha", 1);
  return per_element_of(n, [alpha](Output x) { return elu(x, alpha); });
}

Output gelu_import(ImportedNode& n) {
  const bool approximate = n.text("approximate", "none") == "tanh";
  return per_element_of(n, [approximate](Output x) { return gelu(x, approximate); });
}

Output first_input(ImportedNode& n) { return n.input(0); }

Output dropout_import(ImportedNode& n) {
  if (n.has(2) && !(n.is_constant(2) && !n.truth(2)))
    n.refuse("dropout is for training; export the model for inference");
  return n.input(0);
}

}  // namespace

OnnxImports elementwise_imports() {
  return {
      {"Identity", first_input},
      {"Dropout", dropout_import},
      {"Neg", as(negative)},
      {"Abs", as(abs)},
      {"Sign", as(sign)},
      {"Exp", as(exp)},
      {"Log", as(log)},
      {"Sqrt", as(sqrt)},
      {"Reciprocal", as(reciprocal)},
      {"Erf", as(erf)},
      {"Sin", as(sin)},
      {"Cos", as(cos)},
      {"Floor", as(floor)},
      {"Ceil", as(ceil)},
      {"Round", as(round)},
      {"Tanh", as(tanh)},
      {"Sigmoid", as(sigmoid)},
      {"Softplus", as(softplus)},
      {"Relu", as(relu)},
      {"LeakyRelu", leaky_relu_import},
      {"Elu", elu_import},
      {"Gelu", gelu_import},
      {"Clip", clip_import},
      {"Add", as(add)},
      {"Sub", as(subtract)},
      {"Mul", as(multiply)},
      {"Div", as(divide)},
      {"Pow", power},
      {"Max", as_fold(maximum)},
      {"Min", as_fold(minimum)},
      {"Sum", as_fold(add)},
      {"Equal", as(equal)},
      {"Less", as(less)},
      {"LessOrEqual", as(less_equal)},
      {"Greater", as(greater)},
      {"GreaterOrEqual", as(greater_equal)},
      {"And", as(logical_and)},
      {"Or", as(logical_or)},
      {"Not", as(logical_not)},
      {"Where", select_import},
      {"Cast", cast_import},
  };
}

}  // namespace actorflow
