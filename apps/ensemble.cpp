// Trains an ensemble on a data set, and says how much better it is than its members.
//
//   ensemble digits --members 8 --report report.json --plots pictures
//   ensemble mnist --method bagging --vote hard --model lenet --epochs 2
//   ensemble iris --method stacking --members 2 --passthrough true
//   ensemble digits --save members, and later: ensemble digits --load members --plots pictures
//
// Members are parts of a job: --cluster and --task_index, or TF_CONFIG, make this process one task of
// several; with --work_folder and --resume members that are trained are not trained again.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>

#include "actors/checkpoint/folder.h"
#include "actors/ensembles/ensemble.h"
#include "actors/ensembles/samples.h"
#include "actors/models/images/augmentation.h"
#include "apps/ensembles/ensemble_flags.h"
#include "apps/ensembles/ensemble_report.h"
#include "apps/training/data/load_data.h"
#include "apps/training/reports/report.h"
#include "dataflow/values/error.h"

using namespace actorflow;

namespace {

Model make_model(const EnsembleFlags& flags, const LabelledData& data) {
  const ModelChoice choice = flags.choice();
  Model model(architecture_of(choice, data.types, data.sample));
  CompileOptions compile = flags.recipe.compile(flags.rate, 1);
  compile.learning_rate = nullptr;  // options_of() has one for each member
  compile.metrics = {accuracy()};
  compile.device = flags.device;
  compile.seed = first_seed(flags.options.seed);
  model.compile(std::move(compile));
  return model;
}

TrainingData examples_of(const Tuple& part) { return {part[0], part[1]}; }

// Of members that were loaded it is not known how they were trained.
std::string method_settings(const EnsembleOptions& options, bool loaded) {
  if (options.method == EnsembleMethod::bagging && !loaded)
    return fmt::format("max_samples={}", options.max_samples);
  if (options.method != EnsembleMethod::stacking) return "";
  const std::string folds = loaded ? "" : fmt::format("folds={} ", options.folds);
  return folds + fmt::format("passthrough={}", options.passthrough);
}

EnsembleRun run_of(const EnsembleFlags& flags, Vote vote) {
  const ModelChoice choice = completed(flags.choice());
  return {.data = flags.name,
          .path = std::filesystem::absolute(flags.path()).lexically_normal().string(),
          .model = choice.name,
          .settings = to_string(choice.settings),
          .method = flags.method,
          .method_settings = method_settings(flags.options, !flags.saved.empty()),
          .vote = vote == Vote::hard ? "hard" : "soft",
          .weights = flags.options.weights,
          .device = flags.device.empty() ? "cpu" : flags.device,
          .loaded = flags.saved,
          .seed = flags.options.seed,
          .epochs = flags.epochs,
          .batch_size = flags.batch_size,
          .learning_rate = flags.rate};
}

EnsembleReport report_of(const EnsembleFlags& flags, const Ensemble& trained, EnsembleScore score,
                         double seconds) {
  EnsembleReport report{run_of(flags, trained.vote()),
                        trained.members(),
                        std::move(score),
                        {},
                        trained.oob_score(),
                        seconds};
  for (const History& history : trained.histories())
    report.train_losses.push_back(history.of("loss").back());
  return report;
}

// Each member has images and, but for snapshots, a schedule as the recipe of its model wants them.
EnsembleOptions options_of(const EnsembleFlags& flags) {
  EnsembleOptions options = flags.options;
  const Recipe& recipe = flags.recipe;
  if (recipe.augmentation.changes_images())
    options.training_data = [of_recipe = recipe.augmentation](const Tuple& examples,
                                                              std::uint64_t seed) {
      ImageAugmentation augmentation = of_recipe;
      augmentation.seed = seed;
      return augmented_images(examples[0], examples[1], augmentation);
    };
  if (has_schedule(recipe) && options.method != EnsembleMethod::snapshot)
    options.learning_rate = [recipe, rate = flags.rate](std::int64_t steps) {
      return recipe.compile(rate, steps).learning_rate;
    };
  return options;
}

// The saved members that are whole. What the library says of others in terms of C++ is said in terms of
// flags.
std::vector<std::string> load_saved(Ensemble& members, const EnsembleFlags& flags) {
  try {
    return members.load(flags.saved, flags.damaged);
  } catch (const Error& error) {
    constexpr std::string_view option = "DamagedMembers::left_out", flag = "--damaged left_out";
    std::string text = error.what();
    if (const auto at = text.find(option); at != std::string::npos)
      text.replace(at, option.size(), flag);
    throw Error(error.code(), text);
  }
}

SavedEnsemble what_is_saved(const EnsembleFlags& flags) {
  const ModelChoice choice = completed(flags.choice());
  const std::string path =
      flags.data.empty() ? "" : std::filesystem::absolute(flags.path()).lexically_normal().string();
  return {.data = flags.name,
          .path = path,
          .model = choice.name,
          .settings = to_string(choice.settings),
          .method = flags.method,
          .vote = flags.vote,
          .weights = flags.weights,
          .members = flags.members,
          .passthrough = flags.options.passthrough};
}

// What is said of members of an earlier ensemble in this folder must not be taken for these.
void save(const EnsembleFlags& flags, const Ensemble& members) {
  remove_saved_ensemble(posix_storage(), flags.save);
  members.save(flags.save);
  write_saved_ensemble(posix_storage(), flags.save, what_is_saved(flags));
}

// Trains the members, or takes them as they were saved.
void make_members(Ensemble& members, const EnsembleFlags& flags, const LabelledData& data, Job& job) {
  if (flags.saved.empty()) {
    FitOptions fit;
    fit.epochs = flags.epochs;
    fit.batch_size = flags.batch_size;
    return members.fit(examples_of(data.all_to_train_on()), fit, job);
  }
  for (const std::string& left_out : load_saved(members, flags))
    if (job.coordinates()) spdlog::warn("left out: {}", left_out);
}

LabelledData load(const EnsembleFlags& flags) {
  const std::string path = flags.path();
  LabelledData data = load_data_of_flags(path, "--data");
  if (!data.all_to_train_on)
    throw invalid_argument(path + " is a text; an ensemble learns images or a table");
  return data;
}

// Said before the training, not after it.
void expect_outputs(const EnsembleFlags& flags) {
  const std::pair<const char*, const std::string&> folders[] = {
      {"pictures", flags.plots}, {"members", flags.save}, {"the exported model", flags.onnx}};
  for (const auto& [what, folder] : folders)
    if (!folder.empty()) expect_folder_for(what, posix_storage(), folder);
  if (!flags.report.empty()) expect_report_at(flags.report);
}

void learn(Job& job) {
  const EnsembleFlags flags(job);
  if (job.coordinates()) expect_outputs(flags);
  const LabelledData data = load(flags);
  const Model model = make_model(flags, data);
  Ensemble members = ensemble(model, options_of(flags));
  const auto began = std::chrono::steady_clock::now();
  make_members(members, flags, data, job);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  const Tuple tested = data.all_to_test_on();
  const EnsembleScore score = members.evaluate(examples_of(tested), job);
  if (!job.coordinates()) return;
  const EnsembleReport report = report_of(flags, members, score, seconds.count());
  if (flags.report != "-") fmt::print("{}", to_text(report));
  if (!flags.report.empty()) write_report(flags.report, to_json(report));
  if (!flags.plots.empty()) save_plots(flags.plots, report, members.histories(), data, tested);
  if (!flags.save.empty()) save(flags, members);
  if (!flags.onnx.empty()) members.export_onnx(flags.onnx);
}

// Beside their defaults, which the help of run_jobs() has.
constexpr const char* meanings =
    "What the parameters mean:\n"
    "  --members               how many, 2 or more; of snapshots, the cycles of one training\n"
    "  --method                full_data, bagging, stacking or snapshot\n"
    "  --vote                  soft or hard, not of stacking; --weights 2,1,1: of each member's vote\n"
    "  --model                 mlp, or of images lenet, resnet20 or fast\n"
    "  --set 'key=value ...'   what is the model's own, such as hidden=64,32 (or --hidden 64,32) of "
    "mlp\n"
    "  --epochs --batch_size --learning_rate   of each member's training, without them as suits the "
    "model;\n"
    "                          a rate of 0 is the model's own, whatever the data\n"
    "  --seed                  of all that is random: weights, the order of the examples, samples\n"
    "  --max_samples           of bagging: the share of the examples that is drawn for a member\n"
    "  --folds --passthrough   of stacking\n"
    "  --device                that trains and asks members on each task, such as gpu:0; without it, or "
    "where a task\n"
    "                          lacks it, a CPU\n"
    "  --data PATH             images in a folder or a table *.csv, instead of the project's own data\n"
    "  --report FILE --plots DIR   JSON and SVG; --save DIR: checkpoints; --export DIR: one ONNX model\n"
    "  --load DIR              takes the members that --save has written, with the flags that say\n"
    "                          what they are, and trains none; with --damaged left_out without those\n"
    "                          whose files are damaged";

bool asks_for_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

}  // namespace

int main(int argc, char** argv) {
  const int status =
      run_jobs(argc, argv, {{"cifar10", learn}, {"digits", learn}, {"iris", learn}, {"mnist", learn}});
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (std::ranges::any_of(arguments, asks_for_help)) fmt::print("{}\n", meanings);
  return status;
}
