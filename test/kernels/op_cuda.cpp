// What the GPU computes, against the CPU: every row of the op table, and the optimizers. Skipped,
// visibly, without a GPU.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "kernels/update/sparse_update.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"
#include "test/support/has_gpu.h"

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

}  // namespace

BOOST_AUTO_TEST_SUITE(op_cuda, *boost::unit_test::precondition(has_gpu))

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

BOOST_AUTO_TEST_CASE(optimizers_train_alike) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Sgd{}, Momentum{}, Nesterov{}, Adagrad{}, Adam{}, RmsProp{}, AdamW{},
                              Lion{}, Ftrl{}, Lamb{}})
    BOOST_TEST_CONTEXT(optimizer.name())
  check_same(train(optimizer, cpu_device()), train(optimizer, cuda_device(0)), 1e-5);
}

BOOST_AUTO_TEST_CASE(optimizers_update_rows_alike) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Sgd{}, Momentum{}, Adagrad{}, Adam{}, RmsProp{}, AdamW{}, Lion{}, Ftrl{},
                              Lamb{}, Muon{}})
    BOOST_TEST_CONTEXT(optimizer.name())
  check_same(train_rows(optimizer, cpu_device()), train_rows(optimizer, cuda_device(0)), 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
