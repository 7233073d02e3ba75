// The device on which a model is computed.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/models/model.h"
#include "actors/models/model_graph.h"
#include "actors/task/server.h"
#include "kernels/core/region.h"
#include "kernels/devices/device.h"
#include "kernels/ops/learning_rate.h"
#include "test/models/support/toy_data.h"
#include "test/support/has_gpu.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(devices)

using namespace actorflow;
using namespace actorflow::test;

namespace {

CompileOptions on(const std::string& device) {
  return {.loss = mean_squared_error(), .optimizer = Momentum{0.05, 0.9}, .device = device};
}

Model perceptron() { return sequential({dense(8, tanh), dense(1)}); }

std::map<std::string, Tensor> trained(const std::string& device, const Distribution& strategy = {}) {
  Model model = perceptron();
  model.compile(on(device));
  const auto [x, y] = points_of_a_line(10);
  model.fit({x, y}, quiet({.epochs = 3, .batch_size = 4, .strategy = strategy}));
  return model.weights();
}

// What changes from step to step besides the weights: masks, moving averages, the rate.
CompileOptions with_falling_rate() {
  CompileOptions options = on("gpu:0");
  options.learning_rate = [](Output step) { return exponential_decay(0.1, step, 3, 0.7); };
  return options;
}
Model changing_model() {
  Model model = sequential({dense(8, tanh), batch_norm(), dropout(0.4), dense(1)});
  model.compile(with_falling_rate());
  return model;
}

// The nodes of fit() for a model of changing_model(), and sessions that make its steps.
struct Steps {
  Steps() {
    nodes.add_testing(options, {{DType::float32, {1}}});
    step = nodes.add_training(options);
    for (const Variable& variable : nodes.variables.all()) variables.push_back(variable);
  }

  // The loss of each step of four epochs, whose last batches are smaller, each followed by the loss of
  // a test; then all variables.
  std::vector<Tensor> values(bool cuda_graphs) {
    LocalCluster cluster({{"local", 1}});
    Session session(cluster.server("local", 0).target(), graph, {.cuda_graphs = cuda_graphs});
    session.initialize_variables();
    std::vector<Tensor> values;
    for (int epoch = 0; epoch < 4; ++epoch)
      for (const std::int64_t examples : {6, 6, 6, 4}) {
        const auto [x, y] = points_of_a_line(examples);
        const Feeds feeds{{nodes.inputs.at(0), x}, {nodes.labels.at(0), y}};
        values.push_back(session.run({step.measured.loss, step.op.step}, feeds, step.updates).front());
        values.push_back(session.run(nodes.test.loss, feeds));
      }
    for (Tensor& value : session.run(variables)) values.push_back(std::move(value));
    return values;
  }

  Model model = changing_model();
  CompileOptions options = with_falling_rate();
  Graph graph;
  ModelGraph nodes{graph, model.architecture(), {{DType::float32, {1}}}, &options};
  StepNodes step;
  std::vector<Output> variables;
};

// One that is nowhere here.
std::string absent_gpu() { return "gpu:" + std::to_string(cuda_device_count()); }

}  // namespace

BOOST_AUTO_TEST_CASE(layers_and_gradients_are_placed_where_compile_says) {
  Model model = perceptron();
  const CompileOptions options = on("gpu:0");
  Graph graph;
  ModelGraph nodes(graph, model.architecture(), {{DType::float32, {1}}}, &options, std::nullopt, {});
  nodes.add_testing(options, {{DType::float32, {1}}});
  nodes.add_training(options);
  int products = 0;
  for (const Node& node : graph.def().nodes) {
    if (node.op->name != "MatMul") continue;
    ++products;
    BOOST_TEST(node.device == "/device:GPU:0", node.name);
  }
  BOOST_TEST(products >= 5);  // two forward, three backward
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_a_cpu) {
  const auto expected = trained("");
  BOOST_TEST(expected.size() == 4u);
  BOOST_TEST(same(trained(absent_gpu()), expected));
  BOOST_TEST(same(trained("cpu:0"), expected));
}

BOOST_AUTO_TEST_CASE(so_it_is_for_replicas) {
  BOOST_TEST(same(trained(absent_gpu(), Mirrored{2}), trained("", Mirrored{2})));
}

BOOST_AUTO_TEST_CASE(what_is_no_device_of_a_task_is_named) {
  for (const char* device : {"tpu", "gpu:x", "/job:worker/task:0", "job:worker"}) {
    const Status status = status_of([&] { perceptron().compile(on(device)); });
    BOOST_TEST((status.code == Code::invalid_argument), device);
    BOOST_TEST(status.message.find(device) != std::string::npos, status.message);
  }
}

BOOST_AUTO_TEST_CASE(a_gpu_learns_what_a_cpu_learns, *boost::unit_test::precondition(has_gpu)) {
  const auto ours = trained("gpu:0"), expected = trained("");
  for (const auto& [name, weights] : expected)
    for (std::size_t i = 0; i < weights.values<float>().size(); ++i)
      BOOST_TEST(std::abs(ours.at(name).values<float>()[i] - weights.values<float>()[i]) < 1e-4, name);
}

BOOST_AUTO_TEST_CASE(cuda_graphs_change_no_bit_of_what_is_learned) {
  Steps steps;
  const auto expected = steps.values(false), actual = steps.values(true);
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) BOOST_TEST(identical(actual[i], expected[i]), i);
}

BOOST_AUTO_TEST_CASE(fit_launches_its_steps_as_cuda_graphs, *boost::unit_test::precondition(has_gpu)) {
  const auto before = graph_launches();
  Model model = changing_model();
  const auto [x, y] = points_of_a_line(10);
  model.fit({x, y}, quiet({.epochs = 4, .batch_size = 4}));
  // Of 8 full batches all but the first two, of 4 smaller ones all but the first two.
  BOOST_TEST(graph_launches() - before >= 8U);
}

BOOST_AUTO_TEST_SUITE_END()
