// Learns three kinds of iris from a CSV file. The steps take their batches from a dataset that the task
// serves, so nothing is fed; training is over when the input is.
//
//   iris                       the project's file
//   iris --data FILE --epochs 40
#include <fmt/format.h>

#include <filesystem>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "apps/training/end_of_input.h"

using namespace actorflow;

namespace {

constexpr std::int64_t flowers = 150, measures = 4, kinds = 3, batch_size = 15;

struct Classifier {
  Variable weights, biases;

  explicit Classifier(Graph& g)
      : weights(g.variable("weights", truncated_normal(g, {measures, kinds}, 0, 0.5, 1))),
        biases(g.variable("biases", g.constant(Tensor::zeros(DType::float32, {kinds})))) {}
  Output logits(Output x) const { return bias_add(matmul(x, weights), biases); }
};

std::vector<TensorType> batches_of(std::int64_t size) {
  return {{DType::float32, {size, measures}}, {DType::int64, {size}}};
}

int learn(const std::string& file, std::int64_t epochs) {
  const Dataset examples =
      Dataset::csv({file}, {.components = {{DType::float32, 0, measures}, {DType::int64, measures}}});
  Server server = Server::local();
  server.serve_input("train",
                     examples.shuffle({.seed = 1}).repeat(epochs).batch(batch_size).prefetch(2));
  server.serve_input("test", examples.batch(flowers));

  Graph g;
  const Classifier classifier(g);
  const auto train = iterator_get_next(g, "train", batches_of(batch_size));
  const Output loss = mean(softmax_cross_entropy(classifier.logits(train[0]), train[1]));
  const TrainOp step =
      minimize(g, loss, {classifier.weights, classifier.biases}, global_step(g), Adam{0.05});
  const auto test = iterator_get_next(g, "test", batches_of(flowers));
  const Output right = equal(argmax(classifier.logits(test[0]), 1), test[1]);
  const Output accuracy = mean(cast(right, DType::float32));

  Session session(server.target(), g);
  session.initialize_variables();
  const std::int64_t steps = run_to_end_of_input(session, step);
  fmt::print("{:.1f} % of {} flowers are right after {} steps\n",
             100 * session.run(accuracy).scalar<float>(), flowers, steps);
  return success;
}

std::string default_file() {
  return (std::filesystem::path(default_data_folder()).parent_path() / "iris.csv").string();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Learns three kinds of iris from a CSV file", "iris");
  std::string file = default_file();
  std::int64_t epochs = 40;
  app.add_option("--data", file, "A CSV file of four measures and the kind, 0 to 2, after a first line")
      ->capture_default_str();
  app.add_option("--epochs", epochs, "Passes over the data")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return run_program(app, argc, argv, [&] { return learn(file, epochs); });
}
