// In-graph replication: one client, one graph. The parameters are on the ps tasks; each worker has a
// copy of the model, a tower, which computes the gradients of its own batch. Their mean is taken in the
// graph, beside the parameters.
//
//   in_graph                                        2 ps tasks and 2 workers in this process
//   in_graph --target actorflow://localhost:2222    a cluster with jobs "ps" and "worker" of that size
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"
#include "apps/training/data/images.h"

using namespace actorflow;

namespace {

struct Options {
  std::string target;
  std::string credentials;
  std::string data;
  int ps = 2;
  int workers = 2;
  std::int64_t steps = 400;
  std::int64_t batch_size = 64;  // of each tower
};

constexpr std::int64_t side = 28, pixels = side * side, hidden = 128, classes = 10;

struct Parameters {
  Variable hidden_weights, hidden_biases, weights, biases;

  std::vector<Variable> all() const { return {hidden_weights, hidden_biases, weights, biases}; }
};

Parameters make_parameters(Graph& graph) {
  const auto weights = [&](const char* name, std::int64_t inputs, std::int64_t outputs) {
    const double stddev = std::sqrt(2.0 / static_cast<double>(inputs));
    return graph.variable(name, truncated_normal(graph, {inputs, outputs}, 0, stddev, 1));
  };
  const auto biases = [&](const char* name, std::int64_t outputs) {
    return graph.variable(name, fill(graph, {outputs}, 0));
  };
  return {weights("hidden/weights", pixels, hidden), biases("hidden/biases", hidden),
          weights("logits/weights", hidden, classes), biases("logits/biases", classes)};
}

// A copy of the model.
struct Tower {
  Output x, labels, loss, correct;
  std::vector<Output> gradients;

  Tower(Graph& graph, const Parameters& p) {
    x = graph.placeholder(DType::float32, {Shape::unknown, side, side, 1}, "x");
    labels = graph.placeholder(DType::int64, {Shape::unknown}, "labels");
    const Output rows = reshape(x, {-1, pixels});
    const Output layer = relu(bias_add(matmul(rows, p.hidden_weights), p.hidden_biases));
    const Output logits = bias_add(matmul(layer, p.weights), p.biases);
    loss = mean(softmax_cross_entropy(logits, labels));
    correct = mean(cast(equal(argmax(logits, 1), labels), DType::float32));
    const auto parameters = p.all();
    gradients = actorflow::gradients(loss, {parameters.begin(), parameters.end()});
  }
};

struct Model {
  Graph graph;
  Variable step;
  Parameters parameters;
  std::vector<std::unique_ptr<Tower>> towers;
  Output loss;  // the mean of the towers'
  TrainOp train;

  explicit Model(const Options& options) {
    const std::string first_worker = TaskName{"worker", 0}.to_string();
    graph.on(replica_device_setter(options.ps, "ps", first_worker, greedy_by_bytes(options.ps)), [&] {
      step = global_step(graph);
      parameters = make_parameters(graph);
      for (int i = 0; i < options.workers; ++i) add_tower(i);
      std::vector<Output> losses;
      for (const auto& tower : towers) losses.push_back(tower->loss);
      loss = mean_of(losses);
      train = apply_gradients(graph, mean_gradients(), step, Adam{.learning_rate = 0.002});
    });
  }

 private:
  void add_tower(int index) {
    graph.on(TaskName{"worker", index}.to_string(), [&] {
      graph.name_scope("tower_" + std::to_string(index),
                       [&] { towers.push_back(std::make_unique<Tower>(graph, parameters)); });
    });
  }

  std::vector<GradientAndVariable> mean_gradients() {
    std::vector<GradientAndVariable> means;
    const auto variables = parameters.all();
    for (std::size_t i = 0; i < variables.size(); ++i)
      graph.on(variables[i].device(), [&] {
        std::vector<Output> parts;
        for (const auto& tower : towers) parts.push_back(tower->gradients[i]);
        means.push_back({mean_of(parts), variables[i]});
      });
    return means;
  }

  static Output mean_of(const std::vector<Output>& parts) {
    Output sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
    return sum / static_cast<double>(parts.size());
  }
};

void train(Session& session, const Model& model, const ImageData& data, const Options& options) {
  DatasetIterator batches(labelled(data).training_batches({.size = options.batch_size, .seed = 1}));
  for (std::int64_t i = 1; i <= options.steps; ++i) {
    Feeds feeds;
    for (const auto& tower : model.towers) {
      const Tuple batch = batches.next();
      feeds.emplace_back(tower->x, batch[0]);
      feeds.emplace_back(tower->labels, batch[1]);
    }
    const auto results = session.run({model.train.step, model.loss}, feeds);
    if (i % 100 == 0 || i == options.steps)
      fmt::print("step {}  loss {:.3f}\n", results[0].scalar<std::int64_t>(),
                 results[1].scalar<float>());
  }
}

double test_accuracy(Session& session, const Model& model, const ImageData& data) {
  const Tower& tower = *model.towers[0];
  const Batch all = consecutive_examples(data.test, 0, data.test.count());
  return session.run(tower.correct, {{tower.x, all.x}, {tower.labels, all.labels}}).scalar<float>();
}

int run(Options options) {
  const std::string folder = options.data.empty() ? default_data_folder() : options.data;
  if (folder.empty())
    throw UsageError("the images are not beside the program; name their folder with --data");
  const ImageData data = load_images(folder);
  std::unique_ptr<LocalCluster> cluster;
  if (options.target.empty()) {
    cluster = std::make_unique<LocalCluster>(
        std::vector<LocalCluster::Job>{{"ps", options.ps}, {"worker", options.workers}});
    options.target = cluster->server("worker", 0).target();
  }
  const Model model(options);
  Session session(options.target, model.graph, {.credentials = options.credentials});
  session.initialize_variables();
  train(session, model, data, options);
  fmt::print("test accuracy {:.2f} %\n", 100 * test_accuracy(session, model, data));
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("In-graph replication: one graph with a copy of the model on each worker",
                      "in_graph");
  Options options;
  program.option("--target", options.target, "A server of a cluster with jobs \"ps\" and \"worker\"");
  add_credentials(program, options.credentials);
  program.option("--data", options.data, "Folder with the four files of MNIST");
  const auto add = [&program](const char* name, auto& value, const char* what) {
    add_count(program, name, value, what, 1 << 16);
  };
  add("ps", options.ps, "Tasks of job \"ps\"");
  add("workers", options.workers, "Tasks of job \"worker\", each with a copy of the model");
  add("steps", options.steps, "Steps, each of one batch per worker");
  add("batch-size", options.batch_size, "Examples in the batch of one worker");
  return run_program(program, argc, argv, [&] { return run(options); });
}
