// LeNet and ResNet-20: that they learn, and that a second graph tests what the first one trained.
#include "actors/models/conv_models.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "actors/actorflow.h"
#include "apps/training/mnist.h"
#include "dataflow/train/replicate.h"

using namespace actorflow;

namespace {

Tensor as_images(const Batch& batch) { return batch.x.reshaped({batch.x.shape()[0], 28, 28, 1}); }

// Stripes whose direction and width are the class: easy to tell apart by convolutions only.
Tensor stripes(std::int64_t count) {
  Tensor tensor = Tensor::allocate(DType::float32, {count, 32, 32, 3});
  std::size_t i = 0;
  for (std::int64_t image = 0; image < count; ++image)
    for (int row = 0; row < 32; ++row)
      for (int column = 0; column < 32; ++column)
        for (int colour = 0; colour < 3; ++colour) {
          const auto label = static_cast<int>(image % 10);
          const int along = label < 5 ? row : column;
          tensor.mutable_values<float>()[i++] = static_cast<float>((along / (label % 5 + 1)) % 2);
        }
  return tensor;
}

Tensor labels_in_turn(std::int64_t count) {
  Tensor tensor = Tensor::allocate(DType::int64, {count});
  std::int64_t i = 0;
  for (std::int64_t& label : tensor.mutable_values<std::int64_t>()) label = i++ % 10;
  return tensor;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conv_models)

BOOST_AUTO_TEST_CASE(lenet_reads_digits_after_a_few_steps) {
  const Mnist data = load_mnist(ACTORFLOW_SOURCE_DIR "/apps/data/mnist");
  Graph graph;
  const Variable step = global_step(graph);
  const ImageClassifier lenet = make_lenet(graph, 1);
  const TrainOp train = minimize(graph, lenet.loss, lenet.variables, step, Adam{});
  Session session(graph);
  session.initialize_variables();
  DatasetIterator batches(training_batches(data.train, 64, 1));
  for (int i = 0; i < 100; ++i) {
    const Tuple next = batches.next();
    const Batch batch{next[0], next[1]};
    session.run({train.step}, {{lenet.x, as_images(batch)}, {lenet.labels, batch.labels}});
  }
  const Batch test = consecutive_examples(data.test, 0, 1000);
  const Tensor accuracy =
      session.run(lenet.accuracy, {{lenet.x, as_images(test)}, {lenet.labels, test.labels}});
  BOOST_TEST(accuracy.scalar<float>() > 0.93F);
}

BOOST_AUTO_TEST_CASE(resnet20_learns_and_is_tested_by_its_moving_averages) {
  constexpr std::int64_t batch = 20;
  Graph graph;
  const Variable step = global_step(graph);
  const ImageClassifier resnet = make_resnet20(graph, 1);
  const TrainOp train =
      minimize(graph, resnet.loss, resnet.variables, step, Momentum{.learning_rate = 0.01});
  LocalCluster cluster({{"local", 1}});
  const std::string target = cluster.server("local", 0).target();
  Session session(target, graph);
  session.initialize_variables();
  const Tensor images = stripes(batch), labels = labels_in_turn(batch);
  std::vector<Output> targets = resnet.updates;
  targets.push_back(train.step);
  std::vector<float> losses;
  for (int i = 0; i < 40; ++i) {
    const auto fetched =
        session.run({resnet.loss}, {{resnet.x, images}, {resnet.labels, labels}}, targets);
    losses.push_back(fetched[0].scalar<float>());
  }
  BOOST_TEST(losses.front() > 1);
  BOOST_TEST(losses.back() < 0.2F * losses.front());

  Graph testing;
  const ImageClassifier tested = make_resnet20(testing, 1, false);
  BOOST_TEST(testing.variables().size() == graph.variables().size() - 1);  // all but the global step
  Session tester(target, testing);
  BOOST_TEST(tester.uninitialized_variables().empty());
  const Tensor accuracy = tester.run(tested.accuracy, {{tested.x, images}, {tested.labels, labels}});
  BOOST_TEST(accuracy.scalar<float>() > 0.8F);
}

BOOST_AUTO_TEST_CASE(resnet20_has_the_published_number_of_weights) {
  Graph graph;
  std::int64_t weights = 0;
  for (const Variable& variable : make_resnet20(graph, 1).variables)
    weights += variable.type().shape.elements();
  BOOST_TEST(weights == 269'722);  // "0.27M", He et al. 2016, table 6
}

BOOST_AUTO_TEST_SUITE_END()
