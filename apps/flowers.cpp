// Tells three kinds of iris apart: an estimator that trains and evaluates. With TF_CONFIG the same
// program is every task of a cluster: chief, worker, ps, evaluator.
//
//   flowers --model_dir DIR
//   TF_CONFIG='{"cluster": {...}, "task": {"type": "evaluator", "index": 0}}' flowers --model_dir DIR
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "actors/actorflow.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"

using namespace actorflow;

namespace {

struct Flags {
  std::string file = (std::filesystem::path(default_data_folder()).parent_path() / "iris.csv").string();
  std::string model_dir;
  std::int64_t max_steps = 600, save_steps = 100;
};

const std::vector<std::string> measures{"sepal_length", "sepal_width", "petal_length", "petal_width"};

// The flowers in an order of their own; 120 are for training, and 30 for testing.
Dataset flowers(const std::string& file) {
  CsvOptions columns;
  for (int column = 0; column < 4; ++column) columns.components.push_back({DType::float32, column});
  columns.components.push_back({DType::int64, 4});
  return Dataset::csv({file}, columns).shuffle({.seed = 1, .each_pass_anew = false});
}

DNNClassifier classifier(const RunConfig& config) {
  std::vector<FeatureColumn> columns;
  for (const auto& measure : measures) columns.emplace_back(numeric_column(measure));
  return DNNClassifier({.feature_columns = columns,
                        .hidden_units = {10, 20, 10},
                        .n_classes = 3,
                        .optimizer = Adagrad{0.05},
                        .config = config});
}

int learn(const Flags& flags) {
  Interrupts interrupts(std::chrono::seconds(3));
  const RunConfig config = run_config_from_environment({.model_dir = flags.model_dir,
                                                        .save_checkpoints_steps = flags.save_steps,
                                                        .interrupted = &interrupts.requested()});
  const auto server = server_of(config.strategy);
  if (server) interrupts.on_overdue([&] { server->stop("interrupted"); });
  const InputFn training = [&] {
    return NamedExamples{
        .examples = flowers(flags.file).take(120), .features = measures, .batch_size = 30};
  };
  const InputFn testing = [&] {
    return NamedExamples{.examples = flowers(flags.file).skip(120), .features = measures};
  };
  const auto logs = train_and_evaluate(
      classifier(config), {.input_fn = training, .max_steps = flags.max_steps}, {.input_fn = testing});
  interrupts.on_overdue(nullptr);
  if (interrupts.requested()) return interrupted_run;
  if (logs)
    fmt::print("{:.1f} % of 30 flowers are right after {} steps; loss {:.6f}\n",
               100 * logs->at("accuracy"), logs->at("global_step"), logs->at("loss"));
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Tells three kinds of iris apart, by an estimator", "flowers");
  Flags flags;
  program
      .option("--data", flags.file,
              "A CSV file of four measures and the kind, 0 to 2, after a first line")
      .show_default();
  program
      .option(
          "--model_dir", flags.model_dir,
          "The folder for checkpoints, events and the exported model, which all tasks of a cluster see")
      .required();
  program.option("--max_steps", flags.max_steps, "Training steps in all")
      .check(positive_number())
      .show_default();
  program.option("--save_checkpoints_steps", flags.save_steps, "Steps from one checkpoint to the next")
      .check(positive_number())
      .show_default();
  return run_program(program, argc, argv, [&] { return learn(flags); });
}
