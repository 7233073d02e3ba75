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
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <string_view>

#include "actors/checkpoint/folder.h"
#include "actors/ensembles/ensemble.h"
#include "actors/ensembles/samples.h"
#include "actors/jobs/job.h"
#include "actors/models/images/augmentation.h"
#include "apps/cli/data_folder.h"
#include "apps/ensembles/ensemble_report.h"
#include "apps/ensembles/saved_ensemble.h"
#include "apps/training/data/load_data.h"
#include "apps/training/models/model_choice.h"
#include "apps/training/reports/report.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

using namespace actorflow;

namespace {

const std::map<std::string, EnsembleMethod> methods{{"full_data", EnsembleMethod::full_data},
                                                    {"bagging", EnsembleMethod::bagging},
                                                    {"stacking", EnsembleMethod::stacking},
                                                    {"snapshot", EnsembleMethod::snapshot}};
const std::map<std::string, DamagedMembers> damages{{"refused", DamagedMembers::refused},
                                                    {"left_out", DamagedMembers::left_out}};
const std::map<std::string, Vote> votes{{"soft", Vote::soft}, {"hard", Vote::hard}};

bool has_schedule(const Recipe& recipe) {
  return static_cast<bool>(recipe.compile(recipe.learning_rate, 1).learning_rate);
}

// Cycles that are long, and begin at a rate that leaves the last minimum: snapshots of others are too
// much alike for their vote to be better than the last of them (ensembles/README.md has the figures).
Recipe of_cycles(Recipe recipe, int members) {
  constexpr double epochs_of_cycle = 20;
  recipe.epochs = epochs_of_cycle * members;
  recipe.batch_size = 16;
  recipe.learning_rate = 0.05;
  return recipe;
}

// How members train where no flag says otherwise. Models without a schedule of their own make more
// passes over small data, at a higher rate.
Recipe recipe_for(const std::string& model, const std::string& data, const std::string& method,
                  int members) {
  Recipe recipe = recipe_of({.name = model});
  if (has_schedule(recipe) || (data != "iris" && data != "digits")) return recipe;
  if (data == "digits" && method == "snapshot") return of_cycles(recipe, members);
  recipe.epochs = data == "iris" ? 40 : 30;
  recipe.batch_size = data == "iris" ? 12 : 64;
  recipe.learning_rate = data == "iris" ? 0.01 : 0.005;
  return recipe;
}

// The recipe's; for snapshots as many as make equal cycles.
int epochs_of(const Recipe& recipe, const std::string& method, int members) {
  constexpr double most = 1e9;  // more than anybody waits for, and an int holds whole cycles
  const int epochs = static_cast<int>(std::lround(std::clamp(recipe.epochs, 1.0, most)));
  if (method != "snapshot" || members < 1 || epochs % members == 0) return epochs;
  return epochs + members - epochs % members;
}

// A flag that would change nothing is refused.
void expect_flags_that_count(const Job& job, const std::string& method, bool loads) {
  const auto refuse = [&job](const char* flag, const std::string& why) {
    if (!job.param(flag, "").empty()) throw invalid_argument(fmt::format("--{} is {}", flag, why));
  };
  const std::string other = fmt::format(", but the method is {}; omit one of them", method);
  if (method != "bagging") refuse("max_samples", "for --method bagging" + other);
  if (method == "stacking")
    refuse("vote", "not for --method stacking, whose regression answers; omit one of them");
  if (method != "stacking")
    for (const char* flag : {"folds", "passthrough"}) refuse(flag, "for --method stacking" + other);
  if (!loads) return refuse("damaged", "for members that --load takes; give both, or none");
  for (const char* flag : {"epochs", "batch_size", "learning_rate", "seed", "max_samples", "folds"})
    refuse(flag, "for training, but --load takes members that are trained; omit one of them");
}

void expect_device(const std::string& device) {
  try {
    device_in_task(device);
  } catch (const Error&) {
    throw invalid_argument(
        fmt::format("--device: expected a device such as gpu:0 or cpu:0, got '{}'", device));
  }
}

// What the folder of --load says of its members; none where it says nothing, or nothing is loaded.
std::optional<SavedEnsemble> saved_in(const std::string& folder, const std::string& name) {
  if (folder.empty()) return std::nullopt;
  auto saved = read_saved_ensemble(posix_storage(), folder);
  if (saved && saved->data != name)
    throw invalid_argument(
        fmt::format("--load: the ensemble in {} is one of {}, not of {}", folder, saved->data, name));
  return saved;
}

struct Flags {
  explicit Flags(Job& job)
      : name(job.state()->options().name),
        saved(job.param("load", "")),
        loaded(saved_in(saved, name)),
        data(job.param("data", loaded ? loaded->path : std::string())),
        model(of_ensemble<std::string>(job, "model", "mlp", &SavedEnsemble::model)),
        settings(job.param("set", "")),
        method(of_ensemble<std::string>(job, "method", "full_data", &SavedEnsemble::method)),
        vote(of_ensemble<std::string>(job, "vote", "soft", &SavedEnsemble::vote)),
        report(job.param("report", "")),
        plots(job.param("plots", "")),
        save(job.param("save", "")),
        onnx(job.param("export", "")),
        hidden(job.param("hidden", "")),
        device(job.param("device", "")),
        members(of_ensemble(job, "members", 8, &SavedEnsemble::members)),
        recipe(recipe_for(model, name, method, members)),
        epochs(job.param("epochs", epochs_of(recipe, method, members))),
        batch_size(job.param("batch_size", recipe.batch_size)),
        rate(job.param("learning_rate", recipe.learning_rate)),
        weights(job.param("weights", loaded ? loaded->weights : std::string())),
        options{.members = members,
                .weights = numbers_of("weights", weights),
                .seed = job.param<std::uint64_t>("seed", 1),
                .max_samples = job.param("max_samples", 1.0),
                .folds = job.param("folds", 5),
                .passthrough = of_ensemble(job, "passthrough", false, &SavedEnsemble::passthrough)},
        damaged(chosen("damaged", damages, job.param("damaged", "refused"))) {
    job.state()->expect_known_parameters();  // before the training, not after it
    if (options.members < 2)
      throw invalid_argument(fmt::format("--members: expected 2 or more, got {}", options.members));
    if (epochs < 1) throw invalid_argument(fmt::format("--epochs: expected 1 or more, got {}", epochs));
    if (batch_size < 1)
      throw invalid_argument(fmt::format("--batch_size: expected 1 or more, got {}", batch_size));
    if (!(rate >= 0) || !std::isfinite(rate))
      throw invalid_argument(fmt::format(
          "--learning_rate: expected a number above 0, or 0 for the model's own, got {}", rate));
    expect_device(device);
    options.method = chosen("method", methods, method);
    options.vote = chosen("vote", votes, vote);
    expect_flags_that_count(job, method, !saved.empty());
    if (rate == 0) rate = recipe_of({.name = model}).learning_rate;
  }

  // A flag that says what the ensemble is: of one that is loaded, what was saved.
  template <class T>
  T of_ensemble(const Job& job, const char* flag, const T& otherwise, T SavedEnsemble::*saved_as) const {
    if (!loaded) return job.param(flag, otherwise);
    const T was = (*loaded).*saved_as, given = job.param(flag, was);
    if (given != was) throw contradiction(fmt::format("{} {}", flag, given), fmt::format("{}", was));
    return given;
  }

  Error contradiction(const std::string& given, const std::string& was) const {
    return invalid_argument(
        fmt::format("--{}: the ensemble in {} was saved with {}; omit the flag", given, saved, was));
  }

  // Divided by commas.
  static std::vector<double> numbers_of(const std::string& flag, const std::string& text) {
    std::vector<double> numbers;
    for (const auto part : text | std::views::split(',')) {
      double number = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
      if (error != std::errc{} || end != part.data() + part.size())
        throw invalid_argument(
            fmt::format("--{}: expected numbers divided by commas, got '{}'", flag, text));
      numbers.push_back(number);
    }
    return numbers;
  }

  template <class T>
  static T chosen(const std::string& flag, const std::map<std::string, T>& known,
                  const std::string& text) {
    if (const auto found = known.find(text); found != known.end()) return found->second;
    throw invalid_argument(fmt::format("--{}: expected one of {}, got '{}'", flag,
                                       joined(std::views::keys(known), ", "), text));
  }

  std::string name, saved;
  std::optional<SavedEnsemble> loaded;
  std::string data, model, settings, method, vote, report, plots, save, onnx, hidden, device;
  int members;
  Recipe recipe;
  int epochs;
  std::int64_t batch_size;
  double rate;
  std::string weights;
  EnsembleOptions options;
  DamagedMembers damaged;
};

ModelSettings settings_of(const std::string& text) {
  std::istringstream words(text);
  return parse_settings({std::istream_iterator<std::string>(words), {}});
}

// The settings that flags give.
ModelChoice given_choice(const Flags& flags) {
  ModelChoice choice{flags.model, settings_of(flags.settings)};
  if (!flags.hidden.empty()) {
    if (flags.model != "mlp")
      throw invalid_argument(fmt::format(
          "--hidden is for --model mlp, but the model is {}; omit one of them", flags.model));
    if (!choice.settings.emplace("hidden", flags.hidden).second)
      throw invalid_argument("--hidden and --set hidden=... say the same; omit one of them");
  }
  return choice;
}

// The settings of the model: of one that is loaded those that were saved, of which a flag may say none
// otherwise. A model that has got more settings since then has the defaults of these.
ModelChoice choice_of(const Flags& flags) {
  ModelChoice choice = given_choice(flags);
  if (flags.loaded) {
    const std::string given =
        flags.hidden.empty() ? "set " + to_string(choice.settings) : "hidden " + flags.hidden;
    const ModelChoice saved = completed({flags.model, settings_of(flags.loaded->settings)});
    choice.settings.merge(ModelSettings(saved.settings));
    if (choice.settings != saved.settings) throw flags.contradiction(given, flags.loaded->settings);
    return choice;
  }
  // A small perceptron is enough for small data.
  if (flags.model == "mlp") choice.settings.emplace("hidden", flags.name == "iris" ? "10" : "64");
  return choice;
}

std::string path_of(const Flags& flags) {
  return data_path(flags.data.empty() ? flags.name : flags.data);
}

Model make_model(const Flags& flags, const LabelledData& data) {
  const ModelChoice choice = choice_of(flags);
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

EnsembleRun run_of(const Flags& flags, Vote vote) {
  const ModelChoice choice = completed(choice_of(flags));
  return {.data = flags.name,
          .path = std::filesystem::absolute(path_of(flags)).lexically_normal().string(),
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

EnsembleReport report_of(const Flags& flags, const Ensemble& trained, EnsembleScore score,
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
EnsembleOptions options_of(const Flags& flags) {
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
std::vector<std::string> load_saved(Ensemble& members, const Flags& flags) {
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

SavedEnsemble what_is_saved(const Flags& flags) {
  const ModelChoice choice = completed(choice_of(flags));
  const std::string path =
      flags.data.empty() ? "" : std::filesystem::absolute(path_of(flags)).lexically_normal().string();
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
void save(const Flags& flags, const Ensemble& members) {
  remove_saved_ensemble(posix_storage(), flags.save);
  members.save(flags.save);
  write_saved_ensemble(posix_storage(), flags.save, what_is_saved(flags));
}

// Trains the members, or takes them as they were saved.
void make_members(Ensemble& members, const Flags& flags, const LabelledData& data, Job& job) {
  if (flags.saved.empty()) {
    FitOptions fit;
    fit.epochs = flags.epochs;
    fit.batch_size = flags.batch_size;
    return members.fit(examples_of(data.all_to_train_on()), fit, job);
  }
  for (const std::string& left_out : load_saved(members, flags))
    if (job.coordinates()) spdlog::warn("left out: {}", left_out);
}

LabelledData load(const Flags& flags) {
  const std::string path = path_of(flags);
  LabelledData data = load_data_of_flags(path, "--data");
  if (!data.all_to_train_on)
    throw invalid_argument(path + " is a text; an ensemble learns images or a table");
  return data;
}

// Said before the training, not after it.
void expect_outputs(const Flags& flags) {
  const std::pair<const char*, const std::string&> folders[] = {
      {"pictures", flags.plots}, {"members", flags.save}, {"the exported model", flags.onnx}};
  for (const auto& [what, folder] : folders)
    if (!folder.empty()) expect_folder_for(what, posix_storage(), folder);
  if (!flags.report.empty()) expect_report_at(flags.report);
}

void learn(Job& job) {
  const Flags flags(job);
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
