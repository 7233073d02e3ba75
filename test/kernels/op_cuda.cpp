// What the GPU computes, against the CPU: every row of the op table, and the optimizers. Skipped,
// visibly, without a GPU.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/ops.h"
#include "kernels/update/finite.h"
#include "kernels/update/sparse_update.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"
#include "test/support/has_gpu.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(op_cuda, *boost::unit_test::precondition(actorflow::test::has_gpu))

using namespace actorflow;
using namespace actorflow::test;

namespace {

Output add_row(Graph& graph, const OpRow& row, DType floating) {
  std::vector<Output> inputs;
  for (const auto& tensor : make_inputs(row, floating))
    inputs.push_back(graph.placeholder(tensor.dtype(), tensor.shape()));
  return graph.add(builtin_ops().def(row.op), inputs, row.attrs);
}

std::vector<Tensor> run(const OpRow& row, Device& device, DType floating = DType::float32) {
  Graph graph;
  std::vector<Tensor> tensors;
  for (const auto& tensor : make_inputs(row, floating)) tensors.push_back(device.to_device(tensor));
  const Output op = add_row(graph, row, floating);
  auto outputs = run_kernel(op.node(), tensors, device);
  for (auto& output : outputs) output = device.to_host(output);
  return outputs;
}

void check_same(const Tensor& cpu, const Tensor& gpu, double relative) {
  BOOST_TEST_REQUIRE(cpu.describe() == gpu.describe());
  const Array expected = to_array(cpu), actual = to_array(gpu);
  const double tolerance = is_floating(cpu.dtype()) ? relative : 0;
  for (std::int64_t i = 0; i < cpu.elements(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))))
      BOOST_ERROR("element " << i << " is " << actual[i] << " on the GPU, " << expected[i]
                             << " on the CPU");
}

bool accepts(const OpRow& row, DType floating) {
  Graph graph;
  try {
    add_row(graph, row, floating);
  } catch (const Error&) {
    return false;
  }
  return true;
}

Tensor waves(double frequency) {
  Tensor tensor = Tensor::allocate(DType::float32, {1000});
  double i = 0;
  for (float& value : tensor.mutable_values<float>())
    value = static_cast<float>(std::sin(frequency * i++));
  return tensor;
}

Tensor first_elements(const Tensor& from, std::int64_t count) {
  const auto values = from.values<float>().first(static_cast<std::size_t>(count));
  return Tensor::of<float>({count}, {values.begin(), values.end()});
}

// The value after three steps, while somebody holds the value of the step before.
Tensor train(const Optimizer& optimizer, Device& device) {
  VariableState state{device.to_device(waves(0.1)), {}};
  make_slots(optimizer, state, device);
  for (const double frequency : {1.0, 2.0, 3.0}) {
    const Tensor held = state.value;
    const std::vector<Tensor> gradients = {device.to_device(waves(frequency)),
                                           device.to_device(waves(-0.3 * frequency))};
    apply_mean(optimizer, state, gradients, device);
  }
  return device.to_host(state.value);
}

// The variables after two steps of updates of all of them, by one call or one by one.
std::vector<Tensor> train_many(const BoundOptimizer& optimizer, Device& device, bool together) {
  constexpr std::size_t variables = 100;
  std::vector<VariableState> states;
  for (std::size_t i = 0; i < variables; ++i) {
    const auto size = static_cast<std::int64_t>(i * 37 % 1000);  // one of them is empty
    const Tensor value = i % 7 == 3 ? Tensor::of<double>({1}, {0.5}) : first_elements(waves(0.1), size);
    states.push_back({device.to_device(value), {}});
    make_slots(optimizer, states.back(), device);
  }
  for (const double frequency : {1.0, 2.0}) {
    const Tensor held = states[5].value;
    std::vector<VariableUpdate> updates;
    for (VariableState& state : states) {
      const Tensor gradient = state.value.dtype() == DType::float64
                                  ? Tensor::of<double>({1}, {frequency})
                                  : first_elements(waves(frequency), state.value.elements());
      updates.push_back({optimizer.optimizer.hyperparameters(), &state, device.to_device(gradient)});
    }
    if (together)
      optimizer.rule->apply_each(updates, device, nullptr);
    else
      for (VariableUpdate& update : updates)
        optimizer.rule->apply(update.values, *update.state, {&update.gradient, 1}, device, nullptr);
    for (const VariableUpdate& update : updates) BOOST_TEST(!update.failure);
  }
  std::vector<Tensor> values;
  for (const VariableState& state : states) values.push_back(device.to_host(state.value));
  return values;
}

// Of 100 rows of 10, 50 come in each gradient, some of them twice.
Tensor train_rows(const Optimizer& optimizer, Device& device) {
  VariableState state{device.to_device(waves(0.1).reshaped({100, 10})), {}};
  make_slots(optimizer, state, device);
  for (const std::int64_t step : {1, 2, 3}) {
    const Tensor held = state.value;
    std::vector<SparseGradient> gradients;
    for (const std::int64_t replica : {0, 1}) {
      std::vector<std::int64_t> indices(100);
      for (std::size_t i = 0; i < 100; ++i)
        indices[i] = (static_cast<std::int64_t>(i) * (step + 1) + replica) % 50;
      const Tensor values = waves(0.3 * static_cast<double>(step)).reshaped({100, 10});
      gradients.push_back({{device.to_device(values), device.to_device(Tensor::of({100}, indices))}});
    }
    apply_sparse_mean(optimizer, state, gradients, device);
  }
  return device.to_host(state.value);
}

// Gradients of a variable [rows, 7]: one after the other, each of some parts with these indices.
using Indices = std::vector<std::vector<std::vector<std::int64_t>>>;

std::vector<SparseGradient> rows_of_seven(const Indices& indices, Device& device) {
  std::vector<SparseGradient> gradients;
  double frequency = 0.1;
  for (const auto& gradient : indices) {
    gradients.emplace_back();
    for (const auto& part : gradient) {
      const auto count = std::ssize(part);
      Tensor values = Tensor::allocate(DType::float32, {count, 7});
      double i = 0;
      for (float& value : values.mutable_values<float>())
        value = static_cast<float>(std::sin(frequency * ++i));
      gradients.back().push_back(
          {device.to_device(values), device.to_device(Tensor::of<std::int64_t>({count}, part))});
      frequency += 0.1;
    }
  }
  return gradients;
}

// The mean of the gradients, row by row: it is subtracted from zero once, which rounds nothing.
Tensor mean_of_rows(const Indices& indices, std::int64_t rows, Device& device) {
  VariableState state{device.to_device(Tensor::zeros(DType::float32, {rows, 7})), {}};
  apply_sparse_mean(Sgd{1}, state, rows_of_seven(indices, device), device);
  return device.to_host(state.value);
}

// i, i * i, ... modulo `rows`: some of them many times, some once, some never.
std::vector<std::int64_t> squares(std::int64_t count, std::int64_t rows) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(i * i % rows);
  return indices;
}

}  // namespace

BOOST_DATA_TEST_CASE(gpu_agrees_with_cpu, op_table(), row) {
  BOOST_TEST_REQUIRE(builtin_ops().has_kernel(builtin_ops().def(row.op), DeviceType::cuda));
  const auto cpu = run(row, cpu_device()), gpu = run(row, cuda_device(0));
  BOOST_TEST_REQUIRE(cpu.size() == gpu.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) check_same(cpu[i], gpu[i], 2 * row.tolerance);
}

// To a unit of the last place: both round once what they compute in float32.
BOOST_DATA_TEST_CASE(gpu_agrees_with_cpu_in_16_bits, op_table(), row) {
  for (const auto& [floating, unit] : {std::pair(DType::float16, 0x1p-10), {DType::bfloat16, 0x1p-7}}) {
    if (!accepts(row, floating)) continue;  // the suite op_table holds which ones may refuse
    const auto cpu = run(row, cpu_device(), floating), gpu = run(row, cuda_device(0), floating);
    BOOST_TEST_REQUIRE(cpu.size() == gpu.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) check_same(cpu[i], gpu[i], unit + 2 * row.tolerance);
  }
}

// The op table's outputs are random, and so maxima of no window.
BOOST_AUTO_TEST_CASE(maxima_of_windows_get_their_gradients) {
  for (const std::int64_t channels : {3, 8})
    for (const auto& [window, stride, padding] : {std::tuple(2, 2, Padding::valid),
                                                  {2, 2, Padding::same},
                                                  {2, 3, Padding::valid},
                                                  {3, 4, Padding::same},
                                                  {1, 2, Padding::valid},
                                                  {3, 2, Padding::same}})
      BOOST_TEST_CONTEXT(channels << " channels, windows of " << window << " by " << stride) {
        Graph graph;
        const Shape images{2, 5, 7, channels};
        const Output x = graph.placeholder(DType::float32, images);
        const Output y = max_pool(x, window, stride, padding),
                     g = graph.placeholder(y.dtype(), y.shape());
        const Output dx = graph.add(builtin_ops().def("MaxPoolGrad"), {x, y, g}, y.node().attrs);
        const Tensor values = first_elements(waves(0.7), images.elements()).reshaped(images);
        const Tensor maxima = run_kernel(y.node(), {values}, cpu_device())[0];
        const Tensor weights = first_elements(waves(0.3), maxima.elements()).reshaped(maxima.shape());
        std::vector<Tensor> on_gpu;
        for (const Tensor& input : {values, maxima, weights})
          on_gpu.push_back(cuda_device(0).to_device(input));
        check_same(run_kernel(dx.node(), {values, maxima, weights}, cpu_device())[0],
                   cuda_device(0).to_host(run_kernel(dx.node(), on_gpu, cuda_device(0))[0]), 0);
      }
}

BOOST_AUTO_TEST_CASE(optimizers_train_alike) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Sgd{}, Momentum{}, Nesterov{}, Adagrad{}, Adam{}, RmsProp{}, AdamW{},
                              Lion{}, Ftrl{}, Lamb{}})
    BOOST_TEST_CONTEXT(optimizer.name())
  check_same(train(optimizer, cpu_device()), train(optimizer, cuda_device(0)), 1e-5);
}

BOOST_AUTO_TEST_CASE(many_variables_are_updated_together) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Sgd{}, Nesterov{}, Adam{}, AdamW{}, Ftrl{}, Lamb{}})
    BOOST_TEST_CONTEXT(optimizer.name()) {
      const auto alone = train_many(optimizer, cuda_device(0), false);
      const auto together = train_many(optimizer, cuda_device(0), true);
      for (std::size_t i = 0; i < alone.size(); ++i) check_same(alone[i], together[i], 0);
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_counted_in_many_tensors) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < 150; ++i) {
    Tensor tensor = first_elements(waves(0.1), static_cast<std::int64_t>(i * 7 % 1000));
    const auto values = tensor.mutable_values<float>();
    for (std::size_t bad = 0; bad < std::min(i % 5, values.size()); ++bad)
      values[values.size() - 1 - bad] = bad % 2 == 0 ? NAN : -INFINITY;
    tensors.push_back(tensor);
  }
  tensors.push_back(Tensor::of<double>({3}, {1, INFINITY, 2}));
  tensors.push_back(Tensor::of<std::int64_t>({2}, {1, 2}));
  std::vector<Suspect> on_cpu, on_gpu;
  for (const Tensor& tensor : tensors) {
    on_cpu.push_back({tensor, std::nullopt});
    on_gpu.push_back({cuda_device(0).to_device(tensor), std::nullopt});
  }
  BOOST_TEST(count_bad(on_gpu, cuda_device(0)) == count_bad(on_cpu, cpu_device()),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(optimizers_update_rows_alike) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Sgd{}, Momentum{}, Adagrad{}, Adam{}, RmsProp{}, AdamW{}, Lion{}, Ftrl{},
                              Lamb{}, Muon{}})
    BOOST_TEST_CONTEXT(optimizer.name())
  check_same(train_rows(optimizer, cpu_device()), train_rows(optimizer, cuda_device(0)), 1e-5);
}

// Runs of all lengths around the number of values that are read at a time, few and many rows, several
// parts and gradients.
BOOST_AUTO_TEST_CASE(rows_add_up_in_their_order) {
  std::vector<std::int64_t> growing;  // row i comes i times
  for (std::int64_t row = 0; row < 70; ++row)
    growing.insert(growing.end(), static_cast<std::size_t>(row), row);
  std::vector<std::int64_t> mixed(growing.rbegin(), growing.rend());
  for (std::size_t i = 0; i < mixed.size(); ++i) std::swap(mixed[i], mixed[i * i % mixed.size()]);
  const std::vector<std::int64_t> equal(10'000, 3), none;
  for (const auto& [rows, indices] : std::vector<std::pair<std::int64_t, Indices>>{
           {70, {{growing}}},
           {70, {{mixed}}},
           {5, {{equal}}},
           {1, {{{0}}}},
           {1, {{{0, 0, 0}}}},
           {0, {{none}}},
           {9, {{none}}},
           {9, {{}}},
           {300, {{squares(20'000, 257)}}},
           {100'000, {{squares(30'000, 99'991)}}},
           {70, {{mixed, none, {69, 0, 69}}, {growing}, {none}, {{69, 69}, {1}}}}})
    BOOST_TEST_CONTEXT(rows << " rows, " << indices.size() << " gradients")
  check_same(mean_of_rows(indices, rows, cpu_device()), mean_of_rows(indices, rows, cuda_device(0)), 0);
}

BOOST_AUTO_TEST_CASE(bad_rows_are_refused_alike) {
  for (const std::vector<std::int64_t>& indices :
       std::vector<std::vector<std::int64_t>>{{0, 3, 4}, {-1}, {2, 1, std::int64_t{1} << 40, 3}}) {
    const auto says = [&](Device& device) {
      return error_of([&] { mean_of_rows({{{0, 2}, indices}}, 3, device); });
    };
    BOOST_TEST(says(cuda_device(0)) == says(cpu_device()));
    BOOST_TEST(!says(cpu_device()).empty());
  }
}

BOOST_AUTO_TEST_CASE(bad_elements_are_counted_alike) {
  std::vector<Suspect> suspects, on_gpu;
  const auto add = [&](const Tensor& tensor, std::optional<std::int64_t> rows) {
    suspects.push_back({tensor, rows});
    on_gpu.push_back({cuda_device(0).to_device(tensor), rows});
  };
  for (const std::int64_t count : {0, 1, 255, 257, 100'000}) {
    const auto indices = squares(count, 1009);
    add(Tensor::of<std::int64_t>({count}, indices), 1000);
    add(Tensor::of<std::int64_t>({count}, indices), 1009);
    add(Tensor::of<std::int64_t>({count}, indices), std::nullopt);
    add(Tensor::of<double>({2}, {NAN, 1}), 1);
  }
  add(Tensor::of<std::int64_t>({3}, {-1, 0, std::int64_t{1} << 40}), 1);
  BOOST_TEST(count_bad(on_gpu, cuda_device(0)) == count_bad(suspects, cpu_device()),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
