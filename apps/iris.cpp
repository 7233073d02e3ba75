// Learns three kinds of iris from a CSV file: a model in a few lines. With TF_CONFIG the same program is
// a task of a cluster.
//
//   iris                       the project's file
//   iris --data FILE --epochs 40 --checkpoint_dir DIR
//   iris --stages 2            its two layers in two places, as a pipeline
//   actorflow launch -np 3 iris --own_examples 90,40,20     each worker with data of its own
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <variant>
#include <vector>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"

using namespace actorflow;

namespace {

struct Flags {
  std::string file = (std::filesystem::path(default_data_folder()).parent_path() / "iris.csv").string();
  std::string checkpoint_folder;
  int epochs = 40;
  int stages = 1, micro_batches = 3;
  std::vector<std::int64_t> own_examples;
};

Distribution strategy_of(const Flags& flags) {
  const ReplicaOptions replica{
      .strategy = Synchronous{}, .checkpoint_folder = flags.checkpoint_folder, .mark_end = true};
  if (flags.stages == 1) return distribution_from_environment(replica);
  return pipeline_from_environment({.stages = flags.stages, .micro_batches = flags.micro_batches},
                                   replica);
}

std::size_t number_of_worker(const Distribution& strategy) {
  const auto* workers = std::get_if<MultiWorkerMirrored>(&strategy);
  if (!workers) return 0;
  return static_cast<std::size_t>(
      TaskConfig::make(workers->server->cluster(), workers->server->name()).replica);
}

// As many of the flowers as this worker is to have, behind those of the workers before it.
Dataset own_flowers(const Dataset& flowers, const Flags& flags, std::size_t worker) {
  if (worker >= flags.own_examples.size())
    throw invalid_argument(fmt::format("--own_examples has {} numbers, and none for worker {}",
                                       flags.own_examples.size(), worker));
  const auto own = flags.own_examples.begin() + static_cast<std::ptrdiff_t>(worker);
  return flowers.shuffle({.seed = 1, .each_pass_anew = false})
      .skip(std::accumulate(flags.own_examples.begin(), own, std::int64_t{0}))
      .take(*own);
}

int learn(const Flags& flags) {
  const Dataset flowers =
      Dataset::csv({flags.file}, {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}});
  Model model = sequential({dense(10, tanh), dense(3)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.01}, .metrics = {accuracy()}});
  const Distribution strategy = strategy_of(flags);
  FitOptions options{.epochs = flags.epochs, .batch_size = 12, .strategy = strategy};
  if (flags.own_examples.empty()) {
    model.fit(flowers.shuffle({.seed = 1}), options);
  } else {
    options.auto_shard_policy = AutoShardPolicy::off;
    model.fit(own_flowers(flowers, flags, number_of_worker(strategy)), options);
  }
  if (!is_chief(strategy)) return success;
  const Logs logs = model.evaluate(flowers);
  fmt::print("{:.1f} % of 150 flowers are right after {} epochs; loss {:.6f}\n",
             100 * logs.at("accuracy"), flags.epochs, logs.at("loss"));
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Learns three kinds of iris from a CSV file", "iris");
  Flags flags;
  program
      .option("--data", flags.file,
              "A CSV file of four measures and the kind, 0 to 2, after a first line")
      .show_default();
  program.option("--epochs", flags.epochs, "Passes over the data")
      .check(positive_number())
      .show_default();
  program.option("--stages", flags.stages, "Parts of the model, each in a place of its own")
      .check(positive_number())
      .show_default();
  program.option("--micro_batches", flags.micro_batches, "With stages: the parts of a batch of 12")
      .check(positive_number())
      .show_default();
  program
      .option("--own_examples", flags.own_examples,
              "How many of the flowers each worker has for itself: 90,40,20; none: all have the same")
      .comma_separated();
  program.option("--checkpoint_dir", flags.checkpoint_folder,
                 "A folder that all tasks of a cluster see, from which training goes on after a loss");
  return run_program(program, argc, argv, [&] { return learn(flags); });
}
