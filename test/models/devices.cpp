// The device on which a model is computed.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "actors/models/model.h"
#include "actors/models/model_graph.h"
#include "actors/task/server.h"
#include "kernels/devices/device.h"
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

BOOST_AUTO_TEST_SUITE_END()
