// LeNet and ResNet-20: that they learn, and that a second graph tests what the first one trained.
#include "actors/models/classifiers.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "actors/actorflow.h"
#include "apps/training/data/images.h"
#include "dataflow/train/replicate.h"

BOOST_AUTO_TEST_SUITE(classifiers)

using namespace actorflow;

namespace {

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

BOOST_AUTO_TEST_CASE(lenet_reads_digits_after_a_few_steps) {
  const ImageData data = load_images(ACTORFLOW_SOURCE_DIR "/apps/data/mnist");
  Graph graph;
  const Variable step = global_step(graph);
  const Classifier model = make_classifier(graph, lenet(), {28, 28, 1});
  const TrainOp train = minimize(graph, model.train.loss, model.variables.trained(), step, Adam{});
  Session session(graph);
  session.initialize_variables();
  DatasetIterator batches(labelled(data).training_batches({.size = 64, .seed = 1}));
  for (int i = 0; i < 100; ++i) {
    const Tuple next = batches.next();
    session.run({train.step}, {{model.x, next[0]}, {model.labels, next[1]}});
  }
  const Batch test = consecutive_examples(data.test, 0, 1000);
  const Tensor accuracy =
      session.run(model.test.accuracy, {{model.x, test.x}, {model.labels, test.labels}});
  BOOST_TEST(accuracy.scalar<float>() > 0.93F);
}

BOOST_AUTO_TEST_CASE(resnet20_learns_and_is_tested_by_its_moving_averages) {
  constexpr std::int64_t batch = 20;
  Graph graph;
  const Variable step = global_step(graph);
  const Classifier resnet = make_classifier(graph, resnet20(), {32, 32, 3});
  const TrainOp train = minimize(graph, resnet.train.loss, resnet.variables.trained(), step,
                                 Momentum{.learning_rate = 0.01});
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
        session.run({resnet.train.loss}, {{resnet.x, images}, {resnet.labels, labels}}, targets);
    losses.push_back(fetched[0].scalar<float>());
  }
  BOOST_TEST(losses.front() > 1);
  BOOST_TEST(losses.back() < 0.2F * losses.front());

  Graph testing;
  const Classifier tested = make_classifier(testing, resnet20(), {32, 32, 3}, {.training = false});
  BOOST_TEST(testing.variables().size() == graph.variables().size() - 1);  // all but the global step
  Session tester(target, testing);
  BOOST_TEST(tester.uninitialized_variables().empty());
  const Tensor accuracy =
      tester.run(tested.test.accuracy, {{tested.x, images}, {tested.labels, labels}});
  BOOST_TEST(accuracy.scalar<float>() > 0.8F);
}

BOOST_AUTO_TEST_CASE(resnet20_has_the_published_number_of_weights) {
  Graph graph;
  std::int64_t weights = 0;
  for (const Variable& variable : make_classifier(graph, resnet20(), {32, 32, 3}).variables.trained())
    weights += variable.type().shape.elements();
  BOOST_TEST(weights == 269'722);  // "0.27M", He et al. 2016, table 6
}

BOOST_AUTO_TEST_SUITE_END()
