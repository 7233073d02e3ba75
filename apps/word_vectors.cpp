// Word vectors of a text, trained by two synchronous workers on a table that is cut into parts on two
// parameter servers. A step reads and updates only the rows of its words: gradients are row-sparse.
//
//   word_vectors
//   word_vectors --text book.txt --steps 5000 --ps 4 king queen
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <span>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "apps/training/data/skip_gram.h"
#include "schema/text_file.h"

using namespace actorflow;

namespace {

struct Options {
  std::string text;
  int ps = 2;
  int workers = 2;
  std::int64_t steps = 1500;
  std::int64_t batch_size = 256;
  std::int64_t dimensions = 32;
  std::vector<std::string> words{"king", "lord", "death", "good", "his"};
};

// What one worker adds to the cluster: the same graph as every other, on its own examples.
struct Replica {
  Graph graph;
  Variable step;
  Output centers, targets, loss, vectors;
  TrainOp train;

  Replica(const Options& options, std::int64_t words, int index) {
    const TaskName self{"worker", index};
    graph.on(replica_device_setter(options.ps, "ps", self.to_string()), [&] {
      step = global_step(graph);
      build_model(options, words);
      train = minimize(graph, loss, parameters(), step, Adam{.learning_rate = 0.01},
                       {.replica = index, .replicas = options.workers, .strategy = Synchronous{}});
    });
  }

 private:
  // The loss is that of Mikolov et al.: -log sigmoid(v c) for a true neighbour, -log sigmoid(-v c) for
  // the others.
  void build_model(const Options& options, std::int64_t words) {
    const auto table = [&](const char* name, std::uint64_t seed) {
      const TensorType type{DType::float32, {words, options.dimensions}};
      const auto initial = [&](const Shape& part, std::int64_t first_row) {
        return random_uniform(graph, part, -0.1, 0.1, seed + static_cast<std::uint64_t>(first_row));
      };
      return partitioned_variable(graph, name, type, initial, fixed_size_partitioner(options.ps));
    };
    const auto inner = table("vectors", 1), outer = table("contexts", 1'000'000);
    centers = graph.placeholder(DType::int64, {Shape::unknown}, "centers");
    targets =
        graph.placeholder(DType::int64, {Shape::unknown, 1 + SkipGramOptions().negatives}, "targets");
    const Output center = expand_dims(embedding_lookup(inner, centers), {1});
    const Output logits = sum(center * embedding_lookup(outer, targets), {-1});
    std::vector<float> signs(static_cast<std::size_t>(targets.shape()[1]), 1.0F);
    signs[0] = -1;
    const Output x = logits * graph.constant(Tensor::of({std::ssize(signs)}, signs));
    loss = mean(sum(relu(x) + log(1.0 + exp(-abs(x))), {-1}));
    vectors = whole(inner);
  }

  std::vector<Variable> parameters() const {
    std::vector<Variable> found;
    for (const auto& variable : graph.variables())
      if (variable.name() != step.name()) found.push_back(variable);
    return found;
  }
};

class Worker {
 public:
  Worker(LocalCluster& cluster, const Options& options, const Corpus& corpus, int index)
      : options_(options),
        replica_(options, std::ssize(corpus.words), index),
        session_(cluster.server("worker", index).target(), replica_.graph),
        examples_(corpus, {}, static_cast<std::uint64_t>(index) + 1),
        is_chief_(index == 0) {}

  void initialize() { session_.initialize_variables(); }

  // Returns the mean loss of the last tenth of the steps.
  double train() {
    session_.run({}, {}, {replica_.train.local_init});
    double loss = 0;
    const std::int64_t last = std::max<std::int64_t>(options_.steps / 10, 1);
    for (std::int64_t i = 1; i <= options_.steps; ++i) {
      const auto batch = examples_.next(options_.batch_size);
      const auto results =
          session_.run({replica_.loss, replica_.train.step},
                       {{replica_.centers, batch.centers}, {replica_.targets, batch.targets}});
      loss += results[0].scalar<float>();
      if (i % last != 0) continue;
      loss /= static_cast<double>(last);
      if (is_chief_) fmt::print("step {}/{}  loss {:.3f}\n", i, options_.steps, loss);
      if (i + last <= options_.steps) loss = 0;
    }
    return loss;
  }

  void close() { session_.close(); }
  Tensor vectors() { return session_.run(replica_.vectors); }

 private:
  const Options& options_;
  Replica replica_;
  Session session_;
  SkipGrams examples_;
  bool is_chief_;
};

// All workers train, each on a thread of its own. Returns the chief's loss; if one fails, all end.
double train(std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<std::future<double>> losses;
  for (auto& worker : workers)
    losses.push_back(std::async(std::launch::async, [&worker, &workers] {
      try {
        return worker->train();
      } catch (...) {
        for (auto& other : workers) other->close();
        throw;
      }
    }));
  for (auto& loss : losses) loss.wait();
  double chief = 0;
  for (std::size_t i = losses.size(); i-- > 0;) chief = losses[i].get();
  return chief;
}

std::string read_text(const Options& options) {
  const std::string path =
      options.text.empty() ? default_data_folder("shakespeare") + "/shakespeare.txt" : options.text;
  const auto text = read_text_file(path);
  if (!text)
    throw Error(Code::not_found,
                fmt::format("the text '{}' cannot be read; name one with --text", path));
  return *text;
}

// The cosine of the angle between two rows.
double similarity(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / std::sqrt(aa * bb + 1e-12);
}

void print_neighbours(const Corpus& corpus, const Tensor& vectors, const std::string& word) {
  constexpr std::ptrdiff_t shown = 6;
  const auto found = std::ranges::find(corpus.words, word);
  if (found == corpus.words.end()) return fmt::print("{}: not in the text, or too rare\n", word);
  const auto width = static_cast<std::size_t>(vectors.shape()[1]);
  const auto row = [&](std::size_t id) { return vectors.values<float>().subspan(id * width, width); };
  const auto self = static_cast<std::size_t>(found - corpus.words.begin());
  std::vector<std::pair<double, std::string>> others;
  for (std::size_t id = 0; id < corpus.words.size(); ++id)
    if (id != self) others.emplace_back(-similarity(row(self), row(id)), corpus.words[id]);
  const auto end = others.begin() + std::min(shown, std::ssize(others));
  std::partial_sort(others.begin(), end, others.end());
  others.erase(end, others.end());
  fmt::print("{}:", word);
  for (const auto& [distance, other] : others) fmt::print(" {} {:.2f}", other, -distance);
  fmt::print("\n");
}

int run(const Options& options) {
  constexpr std::int64_t min_count = 5;
  const Corpus corpus(read_text(options), min_count);
  if (corpus.words.size() < 2)
    throw invalid_argument(fmt::format("the text has {} words that occur {} times or more; it needs 2",
                                       corpus.words.size(), min_count));
  LocalCluster cluster({{"ps", options.ps}, {"worker", options.workers}});
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < options.workers; ++i)
    workers.push_back(std::make_unique<Worker>(cluster, options, corpus, i));
  fmt::print("{} words of a text of {}, each table in {} parts\n", corpus.words.size(),
             corpus.text.size(), options.ps);
  workers[0]->initialize();
  const double loss = train(workers);
  fmt::print("loss {:.4f}\n", loss);
  const Tensor vectors = workers[0]->vectors();
  for (const auto& word : options.words) print_neighbours(corpus, vectors, word);
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Word vectors on a table in parts, with row-sparse gradients", "word_vectors");
  Options options;
  program.option("words", options.words, "Words whose nearest neighbours are shown");
  program.option("--text", options.text, "The text; without it 200 KB of Shakespeare");
  const auto add = [&program](const char* name, auto& value, const char* what) {
    add_count(program, name, value, what, 1 << 20);
  };
  add("ps", options.ps, "Parameter servers, and parts of each table");
  add("workers", options.workers, "Workers, all in this process");
  add("steps", options.steps, "Global steps");
  add("batch-size", options.batch_size, "Pairs of words in one worker's step");
  add("dimensions", options.dimensions, "Numbers in a word's vector");
  return run_program(program, argc, argv, [&] { return run(options); });
}
