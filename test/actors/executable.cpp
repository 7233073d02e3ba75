// What a partition is compiled to.
#include "actors/core/executable.h"

#include <boost/test/unit_test.hpp>

#include "actors/worker/node.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/core/region.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(executable)

using namespace actorflow;

namespace {

const std::string cpu = "/job:local/task:0/device:CPU:0";

struct Task {
  Task() {
    context.devices = {&cpu_device()};
    context.sending_device = &cpu_device();
    context.ops = &builtin_ops();
    context.optimizers = &builtin_optimizers();
    context.clock = &steady_clock();
  }
  TaskContext context;
};

Tensor argument(float value) { return Tensor::of<float>({2}, {value, -value}); }

// (x) -> relu(x + x) * 3, from an Arg to a Retval.
GraphDef three_nodes() {
  Graph g;
  g.on(cpu, [&] {
    const Output x = g.add(arg_op(), {},
                           {{"index", std::int64_t{0}}, {"dtype", DType::float32}, {"shape", Shape{2}}});
    const Output y = relu(x + x) * g.constant(3.0F);
    g.add(retval_op(), {y}, {{"index", std::int64_t{0}}});
  });
  return g.def();
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_regions_it_has_the_nodes_of_its_graph) {
  const Task task;
  const Executable executable(7, three_nodes(), task.context);
  BOOST_TEST(executable.handle() == 7U);
  BOOST_TEST(executable.size() == three_nodes().size());
}

BOOST_AUTO_TEST_CASE(a_region_is_compiled_to_one_node_that_computes_all) {
  const Task task;
  const Executable executable(7, three_nodes(), task.context, runs_without_the_host);
  BOOST_TEST_REQUIRE(executable.size() == 3);  // Arg, the region, Retval
  const ExecutableNode& region = executable.node(1);
  BOOST_TEST(region.node->op->name == "Region");
  BOOST_TEST(executable.consumers(executable.node(0), 0).size() == 1U);
  for (const float value : {1.0F, 5.0F}) {  // the same kernel again
    std::vector<Tensor> inputs{argument(value)}, outputs;
    const Status status = compute_node(executable, 1, 1, inputs, outputs);
    BOOST_TEST_REQUIRE(status.ok(), status.message);
    BOOST_TEST(identical(outputs.at(0), Tensor::of<float>({2}, {6 * value, 0})));
  }
}

BOOST_AUTO_TEST_CASE(an_error_in_a_region_names_the_node_within) {
  const Task task;
  Graph g;
  g.on(cpu, [&] {
    const Output x =
        g.add(arg_op(), {},
              {{"index", std::int64_t{0}}, {"dtype", DType::float32}, {"shape", Shape::unknown_rank()}});
    g.add(retval_op(), {relu(matmul(x, x))}, {{"index", std::int64_t{0}}});
  });
  const Executable executable(7, g.def(), task.context, runs_without_the_host);
  std::vector<Tensor> inputs{argument(1)}, outputs;
  const Status status = compute_node(executable, 1, 1, inputs, outputs);
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.starts_with("node 'MatMul' (MatMul): expected"), status.message);
}

BOOST_AUTO_TEST_CASE(only_nodes_on_gpus_that_do_not_need_the_host_may_be_captured) {
  Graph g;
  const auto on = [&](const std::string& device, const auto& build) {
    return may_be_captured(g.on("/job:local/task:0" + device, build).node());
  };
  const Output x = g.placeholder(DType::float32, {2});
  BOOST_TEST(on("/device:GPU:0", [&] { return relu(x); }));
  BOOST_TEST(!on("/device:CPU:0", [&] { return relu(x); }));
  BOOST_TEST(!on("/device:GPU:0", [&] { return shape_of(x); }));
}

BOOST_AUTO_TEST_SUITE_END()
