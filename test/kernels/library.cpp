// The library of ops, the core ops' kernels, and the devices that there are.
#include <boost/test/unit_test.hpp>
#include <set>

#include "dataflow/ops/dataflow_ops.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(library)

using namespace actorflow;

namespace {

bool names(const Error& error, Code code, std::string_view text) {
  BOOST_TEST_INFO(error.what());
  return error.code() == code && std::string_view(error.what()).find(text) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_core_op_is_in_the_registry_under_its_own_address) {
  for (const OpDef* op : dataflow_ops()) BOOST_TEST(builtin_ops().registry().find(op->name) == op);
}

BOOST_AUTO_TEST_CASE(ops_that_actors_do_have_no_kernel) {
  for (const OpDef* op : dataflow_ops())
    BOOST_TEST(builtin_ops().has_kernel(*op, DeviceType::cpu) == (op->dispatch == Dispatch::kernel));
}

BOOST_AUTO_TEST_CASE(a_missing_kernel_is_reported_with_node_op_and_device) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {}, "x");
  BOOST_CHECK_EXCEPTION(builtin_ops().make(x.node(), DeviceType::cuda), Error, [](const Error& e) {
    return names(e, Code::unimplemented, "node 'x' (Placeholder)") &&
           names(e, Code::unimplemented, "GPU");
  });
}

BOOST_AUTO_TEST_CASE(two_ops_of_one_name_are_refused) {
  BOOST_CHECK_EXCEPTION(OpLibrary({{&add_n_op()}, {&add_n_op()}}), Error,
                        [](const Error& e) { return names(e, Code::already_exists, "AddN"); });
}

BOOST_AUTO_TEST_CASE(a_constant_and_its_identity_are_the_tensor_itself) {
  Graph graph;
  const Tensor value = Tensor::of<std::string>({2}, {"a", "b"});
  const Output x = graph.constant(value);
  const auto results = test::interpret(graph.def(), {}, {x, identity(x)});
  BOOST_TEST(results[0].data() == value.data());
  BOOST_TEST(results[1].data() == value.data());
}

BOOST_AUTO_TEST_CASE(add_n_adds_any_number_of_tensors_of_any_length) {
  Graph graph;
  constexpr std::int64_t length = 5000;  // more than a block, and no whole number of blocks
  const Output x = fill(graph, {length}, 2), y = fill(graph, {length}, 3);
  for (const std::vector<Output>& inputs :
       {std::vector{x}, std::vector{x, y}, std::vector{x, y, y, x}}) {
    const Tensor sum = test::interpret(graph.def(), {}, {graph.add(add_n_op(), inputs)}).front();
    float expected = 0;
    for (const Output& input : inputs) expected += input.edge == x.edge ? 2.0F : 3.0F;
    const auto values = sum.values<float>();
    BOOST_TEST((std::set<float>(values.begin(), values.end()) == std::set{expected}));
    BOOST_TEST(sum.elements() == length);
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_reported_with_those_that_are) {
  BOOST_CHECK_EXCEPTION(cuda_device(cuda_device_count()), Error,
                        [](const Error& e) { return names(e, Code::not_found, "CPU:0"); });
}

BOOST_AUTO_TEST_SUITE_END()
