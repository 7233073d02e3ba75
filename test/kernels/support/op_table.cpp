#include "test/kernels/support/op_table.h"

#include <cmath>
#include <random>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "test/kernels/support/array_rows.h"
#include "test/kernels/support/conv_rows.h"
#include "test/kernels/support/elementwise_rows.h"
#include "test/kernels/support/matrix_rows.h"
#include "test/kernels/support/model_rows.h"
#include "test/kernels/support/recurrent_rows.h"
#include "test/kernels/support/reference.h"
#include "test/kernels/support/shape_rows.h"

namespace actorflow::test {
namespace {

double zero(double) { return 0; }
double one(double) { return 1; }

Arrays sum_of_all(const Arrays& in) {
  return {array_of(in[0].shape, [&](const Index& i) {
    double sum = 0;
    for (const Array& array : in) sum += at(array, i);
    return sum;
  })};
}

Rows core_rows() {
  return {
      {"Const", "", {}, {{"value", Tensor::of<float>({2}, {1, -2})}}, always({{2}, {1, -2}})},
      {"Identity", "", {{f32, {2, 3}}}, {}, unary(same)},
      {"NoOp", "", {}, {}, [](const Arrays&) { return Arrays(); }},
      {"AddN", "", {{f32, {5, 7}}, {f32, {5, 7}}, {f32, {5, 7}}}, {}, sum_of_all},
      {"AddN", "one input", {{f32, {3}}}, {}, sum_of_all},
      {"AddN", "six inputs", std::vector<Input>(6, {f32, {3, 5}}), {}, sum_of_all},
      {"AddN", "seven inputs", std::vector<Input>(7, {f32, {3, 8}}), {}, sum_of_all},
      {"AddN", "integers", {{i64, {3}, -9, 9}, {i64, {3}, -9, 9}}, {}, sum_of_all},
  };
}

Attrs reduced(const Ints& axes, bool keep_dims) { return {{"axes", axes}, {"keep_dims", keep_dims}}; }

Rows reduce_rows() {
  const Input cube{f32, {2, 3, 4}}, matrix{f32, {3, 5}};
  return {
      {"Sum", "everything", {cube}, reduced({}, false), reduction({1, 1, 1}, {}, sum_of)},
      {"Sum", "rows", {matrix}, reduced({-1}, false), reduction({3, 1}, {3}, sum_of)},
      {"Sum", "columns", {matrix}, reduced({0}, true), reduction({1, 5}, {1, 5}, sum_of)},
      {"Sum", "outer axes", {cube}, reduced({0, 2}, false), reduction({1, 3, 1}, {3}, sum_of)},
      {"Sum", "integers", {{i32, {3, 5}, -9, 9}}, reduced({1}, false), reduction({3, 1}, {3}, sum_of)},
      {"Sum", "of nothing", {{f32, {0, 3}}}, reduced({0}, false), reduction({1, 3}, {3}, sum_of)},
      {"Mean", "everything", {cube}, reduced({}, true), reduction({1, 1, 1}, {1, 1, 1}, mean_of)},
      {"Mean", "the middle axis", {cube}, reduced({1}, false), reduction({2, 1, 4}, {2, 4}, mean_of)},
      {"Max", "everything", {cube}, reduced({}, false), reduction({1, 1, 1}, {}, largest)},
      {"Max", "rows", {matrix}, reduced({1}, true), reduction({3, 1}, {3, 1}, largest)},
      {"Min", "columns", {matrix}, reduced({0}, false), reduction({1, 5}, {5}, smallest)},
      {"ArgMax",
       "rows",
       {matrix},
       {{"axis", std::int64_t{1}}},
       reduction({3, 1}, {3}, place_of_largest)},
      {"ArgMax",
       "columns",
       {matrix},
       {{"axis", std::int64_t{0}}},
       reduction({1, 5}, {5}, place_of_largest)},
  };
}

Attrs fill(double value, DType dtype) {
  return {{"value", value}, {"dtype", dtype}, {"shape", Shape{2}}};
}

Rows broadcast_rows() {
  const Input cube{f32, {2, 3, 4}};
  const auto like = [](const Shape& shape) { return Input{f32, shape}; };
  return {
      {"SumLike", "a row", {cube, like({4})}, {}, reduction({1, 1, 4}, {4}, sum_of)},
      {"SumLike", "a column", {cube, like({3, 1})}, {}, reduction({1, 3, 1}, {3, 1}, sum_of)},
      {"SumLike", "itself", {cube, like({2, 3, 4})}, {}, reduction({2, 3, 4}, {2, 3, 4}, sum_of)},
      {"BroadcastLike",
       "a row",
       {like({4}), cube},
       {},
       rearranged({2, 3, 4}, [](Index i) { return i; })},
      {"BroadcastLike",
       "a scalar",
       {like({}), cube},
       {},
       rearranged({2, 3, 4}, [](Index i) { return i; })},
      {"MeanLike", "a row", {cube, like({4})}, {}, reduction({1, 1, 4}, {4}, mean_of)},
      {"MeanLike", "a scalar", {cube, like({})}, {}, reduction({1, 1, 1}, {}, mean_of)},
      {"SpreadLike",
       "a row",
       {like({4}), cube},
       {},
       rearranged(
           {2, 3, 4}, [](Index i) { return i; }, 6)},
      {"ZerosLike", "", {cube}, {}, unary(zero)},
      {"OnesLike", "", {cube}, {}, unary(one)},
      {"Fill", "", {}, fill(1.5, f32), always({{2}, {1.5, 1.5}})},
      {"Fill", "integers", {}, fill(-3, i64), always({{2}, {-3, -3}})},
  };
}

Attrs random(std::string_view first, double a, std::string_view second, double b) {
  return {{"dtype", f32},
          {"shape", Shape{3, 101}},
          {"seed", std::int64_t{7}},
          {std::string(first), a},
          {std::string(second), b}};
}

// The values are checked in the suite "random".
Rows random_rows() {
  const Input counter{i64, {}, 0, 1000};
  return {
      {"RandomUniform", "", {}, random("low", -1, "high", 1), {}},
      {"RandomUniform", "with a counter", {counter}, random("low", -1, "high", 1), {}},
      {"RandomNormal", "", {}, random("mean", 1, "stddev", 2), {}},
      {"TruncatedNormal", "", {}, random("mean", 1, "stddev", 2), {}},
  };
}

template <class T>
Tensor random_tensor(const Input& input, std::mt19937& random) {
  std::uniform_real_distribution<double> distribution(input.low, input.high);
  Tensor tensor = Tensor::allocate(dtype_of<T>, input.shape);
  for (T& value : tensor.mutable_values<T>()) {
    const double drawn = distribution(random);
    value = static_cast<T>(is_floating(dtype_of<T>) ? drawn : std::floor(drawn));
  }
  return tensor;
}

// Calls body.operator()<T>() for the C++ type of a numeric dtype.
template <class Body>
auto with_type(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::float32:
      return body.template operator()<float>();
    case DType::float64:
      return body.template operator()<double>();
    case DType::int32:
      return body.template operator()<std::int32_t>();
    case DType::int64:
      return body.template operator()<std::int64_t>();
    case DType::uint8:
      return body.template operator()<std::uint8_t>();
    case DType::float16:
      return body.template operator()<Float16>();
    case DType::bfloat16:
      return body.template operator()<BFloat16>();
    default:
      return body.template operator()<bool>();
  }
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const Rows table = [] {
    Rows all;
    for (const auto family :
         {core_rows, unary_rows, binary_rows, compare_rows, reduce_rows, broadcast_rows, shape_rows,
          matrix_rows, fused_rows, random_rows, conv_rows, model_rows, array_rows,
          recurrent_rows})
      for (auto& row : family()) all.push_back(std::move(row));
    return all;
  }();
  return table;
}

bool has_gradient(const OpRow& row) {
  // Their second output, which only their gradients read, has none; the suite "recurrent" checks them.
  if (row.op == "Lstm" || row.op == "Gru") return false;
  const auto gradient = builtin_ops().def(row.op).gradient;
  return gradient && gradient != no_gradient_yet;
}

std::vector<Tensor> make_inputs(const OpRow& row, DType floating) {
  std::mt19937 random(42);
  std::vector<Tensor> tensors;
  for (const Input& input : row.inputs)
    tensors.push_back(with_type(input.dtype == f32 ? floating : input.dtype,
                                [&]<class T>() { return random_tensor<T>(input, random); }));
  return tensors;
}

Array to_array(const Tensor& tensor) {
  Array array{tensor.shape(), {}};
  with_type(tensor.dtype(), [&]<class T>() {
    for (const T value : tensor.values<T>()) array.values.push_back(static_cast<double>(value));
  });
  return array;
}

}  // namespace actorflow::test
