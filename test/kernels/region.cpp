// Regions as kernels: the same bits as node by node, on a CPU; captured on a GPU where there is one.
#include "kernels/core/region.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "dataflow/graph/gradient.h"
#include "kernels/devices/pool.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"
#include "test/kernels/support/random_values.h"
#include "test/support/has_gpu.h"

BOOST_AUTO_TEST_SUITE(region)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// What is fetched goes through an Identity of its own, outside.
bool joins(const Node& node) { return runs_without_the_host(node) && node.op != &identity_op(); }

// The loss of a convolution and a dense layer and its gradients, of images that come in any number.
struct Model {
  Model() {
    images = graph.placeholder(DType::float32, {Shape::unknown, 6, 6, 3});
    const std::vector<Tensor> values{random_values({3, 3, 3, 4}, 1), random_values({4}, 2),
                                     random_values({144, 5}, 3), random_values({5}, 4)};
    for (const Tensor& value : values) {
      weights.push_back(graph.placeholder(DType::float32, value.shape()));
      feeds[weights.back().edge.node] = value;
    }
    const Output convolved = fused_conv2d(images, weights[0], weights[1], true);
    const Output logits =
        bias_add(actorflow::matmul(reshape(convolved, {Shape::unknown, 144}), weights[2]), weights[3]);
    const Output loss = mean(square(logits));
    fetches = gradients(loss, weights);
    fetches.push_back(loss);
    for (Output& output : fetches) output = identity(output);
  }

  Feeds with_images(std::int64_t batch) const {
    Feeds result = feeds;
    result[images.edge.node] = random_values({batch, 6, 6, 3}, 5);
    return result;
  }

  Graph graph;
  Output images;
  std::vector<Output> weights, fetches;
  Feeds feeds;
};

// A graph whose regions are kept from run to run.
class RegionGraph {
 public:
  RegionGraph(const GraphDef& graph, DeviceType type, const MayJoin& may_join = joins)
      : plain_(graph), formed_(form_regions(graph, may_join)) {
    for (const Region& region : formed_.regions)
      kernels_.push_back(make_region(region, builtin_ops(), type));
  }

  std::size_t regions() const { return kernels_.size(); }
  const GraphDef& graph() const { return formed_.graph; }

  // On the host, as interpret() of the graph without regions.
  std::vector<Tensor> run(const Feeds& feeds, const std::vector<Output>& fetches,
                          Device& device = cpu_device()) const {
    std::vector<std::vector<Tensor>> results;
    for (const Node& node : formed_.graph.nodes) {
      if (node.op == &placeholder_op()) {
        results.push_back({device.to_device(feeds.at(plain_.find(node.name)))});
        continue;
      }
      std::vector<Tensor> inputs;
      for (const Edge edge : node.inputs)
        inputs.push_back(
            results[static_cast<std::size_t>(edge.node)][static_cast<std::size_t>(edge.output)]);
      results.push_back(outputs_of(node, std::move(inputs), device));
    }
    std::vector<Tensor> fetched;
    for (const Output& fetch : fetches)
      fetched.push_back(
          device.to_host(results[static_cast<std::size_t>(formed_.graph.find(fetch.name()))].front()));
    return fetched;
  }

 private:
  std::vector<Tensor> outputs_of(const Node& node, std::vector<Tensor> inputs, Device& device) const {
    if (node.op != &region_op()) return run_kernel(node, std::move(inputs), device);
    std::vector<Tensor> outputs(node.outputs.size());
    OpContext context(node, device, inputs, outputs);
    kernels_.at(static_cast<std::size_t>(attr<std::int64_t>(node, "region")))->compute(context);
    return outputs;
  }

  const GraphDef& plain_;
  GraphOfRegions formed_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

void check_same_bits(const Model& model, const RegionGraph& graph, std::int64_t batch, Device& device) {
  const Feeds feeds = model.with_images(batch);
  const auto expected = interpret(model.graph.def(), feeds, model.fetches, device);
  const auto actual = graph.run(feeds, model.fetches, device);
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(identical(actual[i], expected[i]), model.fetches[i].name() << ", batch " << batch);
}

// A device that counts what its kernels copy from and to the host.
struct CountingDevice final : Device {
  DeviceType type() const override { return DeviceType::cpu; }
  int index() const override { return 0; }
  Allocator& allocator() override { return cpu_device().allocator(); }
  Tensor to_device(const Tensor& host) override { return ++copies, host; }
  Tensor to_host(const Tensor& tensor) override { return ++copies, tensor; }

  int copies = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_training_step_is_one_region_with_the_bits_of_its_nodes) {
  const Model model;
  const RegionGraph graph(model.graph.def(), DeviceType::cpu);
  BOOST_TEST(graph.regions() == 1U);
  for (const std::int64_t batch : {3, 1, 3, 0}) check_same_bits(model, graph, batch, cpu_device());
}

BOOST_AUTO_TEST_CASE(inputs_and_tensors_with_other_uses_are_not_overwritten) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {4});
  const Output doubled = x + x;
  const Output sum = doubled + square(doubled) * doubled;
  const std::vector<Output> fetches{identity(x), identity(doubled), identity(sum)};
  const RegionGraph graph(g.def(), DeviceType::cpu);
  const Tensor given = Tensor::of<float>({4}, {1, 2, 3, 4});
  const auto results = graph.run({{x.edge.node, given}}, fetches);
  BOOST_TEST(identical(given, Tensor::of<float>({4}, {1, 2, 3, 4})));
  BOOST_TEST(identical(results[1], Tensor::of<float>({4}, {2, 4, 6, 8})));
  BOOST_TEST(identical(results[2], Tensor::of<float>({4}, {10, 68, 222, 520})));
}

BOOST_AUTO_TEST_CASE(the_error_of_a_node_names_it) {
  Graph g;
  const Output a = g.placeholder(DType::float32, Shape::unknown_rank());
  const Output b = g.placeholder(DType::float32, Shape::unknown_rank());
  const Output fetch = identity(relu(actorflow::matmul(a, b)));
  const RegionGraph graph(g.def(), DeviceType::cpu);
  BOOST_TEST_REQUIRE(graph.regions() == 1U);
  const Tensor matrix = random_values({2, 3}, 1);
  const auto names_the_node = [](const Error& error) {
    return std::string(error.what())
        .starts_with("node 'MatMul' (MatMul): expected two floating matrices");
  };
  BOOST_CHECK_EXCEPTION(graph.run({{a.edge.node, matrix}, {b.edge.node, matrix}}, {fetch}), Error,
                        names_the_node);
}

BOOST_AUTO_TEST_CASE(text_stays_outside) {
  Graph g;
  BOOST_TEST(runs_without_the_host(g.constant(1.0F).node()));
  BOOST_TEST(!runs_without_the_host(g.constant("text").node()));
}

// A constant's value is copied before the capture.
BOOST_DATA_TEST_CASE(kernels_that_copy_to_or_from_the_host_stay_outside, actorflow::test::op_table(),
                     row) {
  Graph g;
  std::vector<Output> inputs;
  std::vector<Tensor> tensors = make_inputs(row);
  for (const Tensor& tensor : tensors) inputs.push_back(g.placeholder(tensor.dtype(), tensor.shape()));
  const Node& node = g.add(builtin_ops().def(row.op), inputs, row.attrs).node();
  CountingDevice device;
  run_kernel(node, std::move(tensors), device);
  BOOST_TEST(runs_without_the_host(node) == (device.copies == 0 || node.op == &const_op()));
}

BOOST_AUTO_TEST_CASE(a_captured_region_has_the_bits_of_its_nodes,
                     *boost::unit_test::precondition(has_gpu)) {
  const Model model;
  const RegionGraph graph(model.graph.def(), DeviceType::cuda);
  // Each size is captured and launched when it comes for the third time.
  const auto before = graph_launches();
  for (const std::int64_t batch : {3, 3, 3, 3, 1, 3, 1, 1, 3, 1})
    check_same_bits(model, graph, batch, cuda_device(0));
  BOOST_TEST(graph_launches() - before == 6U);
}

BOOST_AUTO_TEST_CASE(no_more_than_four_shapes_are_captured, *boost::unit_test::precondition(has_gpu)) {
  const Model model;
  const RegionGraph graph(model.graph.def(), DeviceType::cuda);
  const auto before = graph_launches();
  for (const std::int64_t batch : {1, 2, 3, 4, 5, 6})
    for (int i = 0; i < 4; ++i) check_same_bits(model, graph, batch, cuda_device(0));
  BOOST_TEST(graph_launches() - before == 4U * 2);
}

// The tensors are graph memory while they are computed, and memory of the device's pool when they leave.
BOOST_AUTO_TEST_CASE(graphs_give_their_memory_back, *boost::unit_test::precondition(has_gpu)) {
  const Model model;
  auto& pool = dynamic_cast<Pool&>(cuda_device(0).allocator());
  const auto in_use = pool.statistics().bytes_in_use;
  {
    const RegionGraph graph(model.graph.def(), DeviceType::cuda);
    for (int i = 0; i < 4; ++i) check_same_bits(model, graph, 3, cuda_device(0));
    BOOST_TEST(pool.statistics().bytes_in_use > in_use);
  }
  BOOST_TEST(pool.statistics().bytes_in_use == in_use);
}

// As a step does that needs more than there is left: the graphs go, and the region runs node by node.
BOOST_AUTO_TEST_CASE(graphs_give_their_memory_back_to_who_lacks_it,
                     *boost::unit_test::precondition(has_gpu)) {
  const Model model;
  Device& gpu = cuda_device(0);
  auto& pool = dynamic_cast<Pool&>(gpu.allocator());
  const RegionGraph graph(model.graph.def(), DeviceType::cuda);
  for (int i = 0; i < 4; ++i) check_same_bits(model, graph, 3, gpu);
  const auto with_graphs = pool.statistics().bytes_in_use;
  const auto before = graph_launches();
  const auto too_much = static_cast<std::size_t>(gpu.memory_bytes());
  BOOST_CHECK_EXCEPTION(pool.allocate(too_much), Error,
                        [](const Error& error) { return error.code() == Code::resource_exhausted; });
  BOOST_TEST(pool.statistics().bytes_in_use < with_graphs);
  for (int i = 0; i < 4; ++i) check_same_bits(model, graph, 3, gpu);
  BOOST_TEST(graph_launches() == before);
}

BOOST_AUTO_TEST_CASE(a_region_of_few_nodes_is_not_captured, *boost::unit_test::precondition(has_gpu)) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {4});
  const Output fetch = identity(square(x) + x);
  const RegionGraph graph(g.def(), DeviceType::cuda);
  BOOST_TEST_REQUIRE(graph.regions() == 1U);
  const auto before = graph_launches();
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(identical(
        graph.run({{x.edge.node, Tensor{1.0F, 2.0F, 3.0F, 4.0F}}}, {fetch}, cuda_device(0)).at(0),
        Tensor{2.0F, 6.0F, 12.0F, 20.0F}));
  BOOST_TEST(graph_launches() == before);
}

// ShapeOf copies from the host, which a graph would not repeat.
BOOST_AUTO_TEST_CASE(a_region_that_cannot_be_captured_runs_node_by_node,
                     *boost::unit_test::precondition(has_gpu)) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {Shape::unknown});
  const Output elements = sum(cast(shape_of(x), DType::float32));
  const Output fetch = identity(sum(square(x) + x) * square(elements) + elements);
  const RegionGraph graph(g.def(), DeviceType::cuda,
                          [](const Node& node) { return node.op != &identity_op(); });
  BOOST_TEST_REQUIRE(graph.regions() == 1U);
  const auto before = graph_launches();
  for (int i = 0; i < 5; ++i) {
    const Tensor y = graph.run({{x.edge.node, Tensor{1.0F, 2.0F}}}, {fetch}, cuda_device(0)).at(0);
    BOOST_TEST(y.scalar<float>() == (2.0F + 6.0F) * 4 + 2);
  }
  BOOST_TEST(graph_launches() == before);
}

// By sorting and by dividing long lines, with memory for the time of a launch.
BOOST_AUTO_TEST_CASE(sorts_and_running_sums_are_captured, *boost::unit_test::precondition(has_gpu)) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {3, 20'000});
  const TopK top = top_k(x, 100);
  const std::vector<Output> fetches{
      identity(top.values), identity(top.indices), identity(cumsum(x, 1)),
      identity(add_along_axis(top.values, top.indices, x, 1)),
      identity(scatter_add(x, reshape(top.indices, {300}), fill(g, {3, 300}, 0.1), 1))};
  const RegionGraph graph(g.def(), DeviceType::cuda);
  BOOST_TEST(graph.regions() > 0U);
  for (const unsigned seed : {1U, 2U, 1U, 3U}) {
    const Feeds feeds{{x.edge.node, random_values({3, 20'000}, seed)}};
    const auto expected = interpret(g.def(), feeds, fetches, cuda_device(0));
    const auto actual = graph.run(feeds, fetches, cuda_device(0));
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(identical(actual[i], expected[i]), fetches[i].name() << ", seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
