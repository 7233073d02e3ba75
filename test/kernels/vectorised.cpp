// Every instruction set that this CPU has gives the same bits, for every op; and the elementary
// functions are as exact as they say.
#include "kernels/loops/vectorised.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/loops/elementary.h"
#include "kernels/update/optimizer_update.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"

BOOST_AUTO_TEST_SUITE(vectorised)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Runs with another instruction set as long as it lives.
class With {
 public:
  explicit With(InstructionSet set) { use_instruction_set(set); }
  ~With() { use_instruction_set(before_); }
  With(const With&) = delete;
  With& operator=(const With&) = delete;

 private:
  InstructionSet before_ = instruction_set();
};

template <class T>
void strew_special_values(Tensor& tensor) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       -T(0),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::min(),
                       Limits::denorm_min()};
  const auto values = tensor.mutable_values<T>();
  for (std::size_t i = 5; i < values.size(); i += 11) values[i] = special[i / 11 % std::size(special)];
}

std::vector<Tensor> compute(const OpRow& row, std::vector<Tensor> inputs) {
  Graph graph;
  std::vector<Output> placeholders;
  for (auto& tensor : inputs) {
    placeholders.push_back(graph.placeholder(tensor.dtype(), tensor.shape()));
    tensor = tensor.clone();  // kernels may write over what nobody else holds
  }
  const Output op = graph.add(builtin_ops().def(row.op), placeholders, row.attrs);
  return run_kernel(op.node(), std::move(inputs), cpu_device());
}

template <class T>
void check_same_floats(const Tensor& expected, const Tensor& actual) {
  const auto a = expected.values<T>(), b = actual.values<T>();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i])))
      BOOST_ERROR("element " << i << " is " << b[i] << " instead of " << a[i]);
}

// Bit for bit; any NaN is like another.
void check_same(const Tensor& expected, const Tensor& actual) {
  BOOST_TEST_REQUIRE(expected.describe() == actual.describe());
  if (expected.dtype() == DType::float32)
    check_same_floats<float>(expected, actual);
  else if (expected.dtype() == DType::float64)
    check_same_floats<double>(expected, actual);
  else
    BOOST_TEST(std::memcmp(expected.data(), actual.data(), expected.size_bytes()) == 0);
}

// What `compute()` returns with each instruction set, against what it does with the baseline.
void check_instruction_sets(const std::function<std::vector<Tensor>()>& results) {
  std::vector<Tensor> expected;
  for (const InstructionSet set : available_instruction_sets()) {
    const With instruction_set(set);
    const auto actual = results();
    if (set == InstructionSet::baseline) expected = actual;
    BOOST_TEST_REQUIRE(actual.size() == expected.size());
    BOOST_TEST_CONTEXT(to_string(set)) {
      for (std::size_t i = 0; i < actual.size(); ++i) check_same(expected[i], actual[i]);
    }
  }
}

constexpr DType f32 = DType::float32;

// Long enough for the widest vectors, and with a rest.
std::vector<OpRow> long_rows() {
  const Input x{f32, {1037}, -30, 30}, y{f32, {1037}, -30, 30}, flags{DType::boolean, {1037}, 0, 2};
  const Input matrix{f32, {37, 101}, -9, 9}, row{f32, {101}}, integers{DType::int32, {1037}, -9, 9};
  std::vector<OpRow> rows;
  for (const auto* op :
       {"Neg", "Abs", "Sign", "Square", "Exp", "Log", "Sqrt", "Tanh", "Sigmoid", "Relu"})
    rows.push_back({op, "long", {x}, {}, {}});
  for (const auto* op : {"Add", "Sub", "Mul", "Div", "Maximum", "Minimum", "Less", "Equal", "ReluGrad"})
    rows.push_back({op, "long", {x, y}, {}, {}});
  for (const auto* op : {"Add", "Mul", "BiasAdd", "Greater"})
    rows.push_back({op, "a long row", {matrix, row}, {}, {}});
  for (const auto* op : {"Softmax", "LogSoftmax", "BiasAddGrad"})
    for (const Input& rows_of : {matrix, Input{f32, {37, 11}, -9, 9}})
      rows.push_back({op, "long", {rows_of}, {}, {}});
  rows.push_back({"ReluBiasGrad", "long", {matrix, matrix}, {}, {}});
  rows.push_back({"FusedMatMul", "long", {{f32, {7, 1}}, {f32, {1, 101}}, row}, {{"relu", true}}, {}});
  const Input labels{DType::int32, {37}, 0, 101};
  rows.push_back({"SparseSoftmaxCrossEntropy", "long", {matrix, labels}, {}, {}});
  rows.push_back({"MeanSparseSoftmaxCrossEntropy", "long", {matrix, labels, {f32, {}}}, {}, {}});
  for (const auto* op : {"Sum", "Mean", "Max", "Min"})
    for (const std::int64_t axis : {0, 1})
      rows.push_back({op, "long", {matrix}, {{"axes", std::vector{axis}}}, {}});
  rows.push_back({"Sum", "integers", {integers}, {}, {}});
  rows.push_back({"Select", "long", {flags, x, y}, {}, {}});
  rows.push_back({"AddN", "long", {x, y, x}, {}, {}});
  for (const DType dtype : {DType::int32, DType::int64, DType::uint8, DType::boolean})
    rows.push_back({"Cast", "long", {x}, {{"dtype", dtype}}, {}});
  rows.push_back({"Cast", "from integers", {integers}, {{"dtype", f32}}, {}});
  return rows;
}

// The largest error of f, in units of its last place, at points from `low` to `high`.
template <class T, class Exact>
double worst_ulp(T (*f)(T), Exact (*exact)(Exact), double low, double high) {
  constexpr int points = 200'000;
  double worst = 0;
  for (int i = 0; i <= points; ++i) {
    const T x = static_cast<T>(low + (high - low) * i / points);
    const Exact expected = exact(static_cast<Exact>(x));
    const int exponent =
        std::max(std::ilogb(static_cast<T>(expected)), std::numeric_limits<T>::min_exponent - 1);
    const auto ulp = std::ldexp(Exact(1), exponent - std::numeric_limits<T>::digits + 1);
    worst = std::max(worst, static_cast<double>(std::abs(f(x) - expected) / ulp));
  }
  return worst;
}

template <class T, class Exact>
void check_elementary_functions() {
  using Function = Exact (*)(Exact);
  const Function exp = std::exp, log = std::log, tanh = std::tanh, erfc = std::erfc;
  const double least = std::log(static_cast<double>(std::numeric_limits<T>::min()));
  const double largest = std::log(static_cast<double>(std::numeric_limits<T>::max()));
  BOOST_TEST(worst_ulp(elementary::exp<T>, exp, least + 1e-5, largest - 1e-5) < 1.5);
  BOOST_TEST(worst_ulp(elementary::exp<T>, exp, -1, 1) < 1.5);
  BOOST_TEST(worst_ulp(elementary::log<T>, log, 0.5, 2) < 1.5);
  BOOST_TEST(worst_ulp(elementary::log<T>, log, 1, 1e30) < 1.5);
  BOOST_TEST(worst_ulp(elementary::log<T>, log, 1e-44, 1e-38) < 1.5);
  BOOST_TEST(worst_ulp(elementary::tanh<T>, tanh, -25, 25) < 3);
  BOOST_TEST(worst_ulp(elementary::tanh<T>, tanh, -1e-3, 1e-3) < 3);
  BOOST_TEST(worst_ulp(elementary::erfc<T>, erfc, -6, 0) < 3.5);
  BOOST_TEST(worst_ulp(elementary::erfc<T>, erfc, 0, 1) < 7);
  BOOST_TEST(worst_ulp(elementary::erfc<T>, erfc, 0, 5) < 55);
}

template <class T>
void check_special_values() {
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  BOOST_TEST(elementary::exp(T(0)) == 1);
  BOOST_TEST(elementary::exp(-infinity) == 0);
  BOOST_TEST(elementary::exp(infinity) == infinity);
  BOOST_TEST(elementary::exp(T(710)) == infinity);
  BOOST_TEST(elementary::exp(T(-709)) == 0);
  BOOST_TEST(elementary::log(T(1)) == 0);
  BOOST_TEST(elementary::log(T(0)) == -infinity);
  BOOST_TEST(elementary::log(infinity) == infinity);
  BOOST_TEST(std::isnan(elementary::log(T(-1))));
  BOOST_TEST(elementary::tanh(infinity) == 1);
  BOOST_TEST(elementary::tanh(-infinity) == -1);
  BOOST_TEST(std::signbit(elementary::tanh(-T(0))));
  BOOST_TEST(elementary::erfc(infinity) == 0);
  BOOST_TEST(elementary::erfc(-infinity) == 2);
  for (const auto f : {elementary::exp<T>, elementary::log<T>, elementary::tanh<T>, elementary::erfc<T>})
    BOOST_TEST(std::isnan(f(nan)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_baseline_is_always_there_and_the_best_is_chosen) {
  const auto sets = available_instruction_sets();
  BOOST_TEST((sets.front() == InstructionSet::baseline));
  BOOST_TEST((instruction_set() == sets.back()));
}

BOOST_AUTO_TEST_CASE(every_instruction_set_runs_the_loop) {
  for (const InstructionSet set : available_instruction_sets()) {
    const With chosen(set);
    int calls = 0;
    actorflow::vectorised([&] { ++calls; });
    BOOST_TEST(calls == 1);
  }
}

BOOST_DATA_TEST_CASE(every_op_gives_the_same_bits, op_table(), row) {
  const auto inputs = make_inputs(row);
  check_instruction_sets([&] { return compute(row, inputs); });
}

BOOST_DATA_TEST_CASE(long_tensors_with_special_values_too, long_rows(), row) {
  for (const DType floating : {DType::float32, DType::float64}) {
    auto inputs = make_inputs(row, floating);
    check_instruction_sets([&] { return compute(row, inputs); });
    for (auto& tensor : inputs) {
      if (tensor.dtype() == DType::float32) strew_special_values<float>(tensor);
      if (tensor.dtype() == DType::float64) strew_special_values<double>(tensor);
    }
    check_instruction_sets([&] { return compute(row, inputs); });
  }
}

BOOST_AUTO_TEST_CASE(optimizers_give_the_same_bits) {
  const auto inputs = make_inputs({"AddN", "", {{f32, {1037}}, {f32, {1037}}, {f32, {1037}}}, {}, {}});
  for (const Optimizer& optimizer : std::vector<Optimizer>{Sgd{}, Momentum{}, Nesterov{}, Adagrad{},
                                                           Adam{}, RmsProp{}, AdamW{}, Lion{}, Ftrl{}})
    check_instruction_sets([&] {
      VariableState state{inputs[0].clone(), {}};
      make_slots(optimizer, state, cpu_device());
      const std::vector<Tensor> gradients{inputs[1], inputs[2]};
      apply_mean(optimizer, state, gradients, cpu_device());
      return std::vector<Tensor>{state.value};
    });
}

BOOST_AUTO_TEST_CASE(float32_functions_are_exact_to_a_few_units_in_the_last_place) {
  check_elementary_functions<float, double>();
}

BOOST_AUTO_TEST_CASE(float64_functions_are_exact_to_a_few_units_in_the_last_place) {
  check_elementary_functions<double, long double>();
}

BOOST_AUTO_TEST_CASE(special_values_are_those_of_the_c_library) {
  check_special_values<float>();
  check_special_values<double>();
}

BOOST_AUTO_TEST_SUITE_END()
