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
#include <ranges>
#include <span>
#include <sstream>
#include <string_view>

#include "actors/checkpoint/folder.h"
#include "actors/ensembles/ensemble.h"
#include "actors/jobs/job.h"
#include "actors/models/images/augmentation.h"
#include "apps/cli/data_folder.h"
#include "apps/ensembles/ensemble_report.h"
#include "apps/training/data/load_data.h"
#include "apps/training/models/model_choice.h"
#include "apps/training/reports/report.h"
#include "dataflow/values/error.h"

using namespace actorflow;

namespace {

const std::map<std::string, EnsembleMethod> methods{{"full_data", EnsembleMethod::full_data},
                                                    {"bagging", EnsembleMethod::bagging},
                                                    {"stacking", EnsembleMethod::stacking},
                                                    {"snapshot", EnsembleMethod::snapshot}};
const std::map<std::string, DamagedMembers> damages{{"refused", DamagedMembers::refused},
                                                    {"left_out", DamagedMembers::left_out}};
const std::map<std::string, Vote> votes{{"soft", Vote::soft}, {"hard", Vote::hard}};

struct Flags {
  explicit Flags(Job& job)
      : name(job.state()->options().name),
        data(job.param("data", "")),
        model(job.param("model", "mlp")),
        settings(job.param("set", "")),
        method(job.param("method", "full_data")),
        vote(job.param("vote", "soft")),
        report(job.param("report", "")),
        plots(job.param("plots", "")),
        save(job.param("save", "")),
        saved(job.param("load", "")),
        onnx(job.param("export", "")),
        hidden(job.param("hidden", "")),
        epochs(job.param("epochs", name == "iris"     ? 40
                                   : name == "digits" ? 30
                                                      : 5)),
        batch_size(job.param<std::int64_t>("batch_size", name == "iris" ? 12 : 64)),
        rate(rate_of(job, name)),
        options{.members = job.param("members", 8),
                .weights = numbers_of("weights", job.param("weights", "")),
                .seed = job.param<std::uint64_t>("seed", 1),
                .max_samples = job.param("max_samples", 1.0),
                .folds = job.param("folds", 5),
                .passthrough = job.param("passthrough", false)},
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
    options.method = chosen("method", methods, method);
    options.vote = chosen("vote", votes, vote);
  }

  // 0: as the model's recipe has it.
  static double rate_of(Job& job, const std::string& name) {
    const bool is_small = name == "iris" || name == "digits";
    return job.param("learning_rate", !is_small ? 0.0 : name == "iris" ? 0.01 : 0.005);
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
    std::string names;
    for (const auto& [each, value] : known) names += (names.empty() ? "" : ", ") + each;
    throw invalid_argument(fmt::format("--{}: expected one of {}, got '{}'", flag, names, text));
  }

  std::string name, data, model, settings, method, vote, report, plots, save, saved, onnx, hidden;
  int epochs;
  std::int64_t batch_size;
  double rate;
  EnsembleOptions options;
  DamagedMembers damaged;
};

// The settings of the model, of which a small perceptron is enough for small data.
ModelChoice choice_of(const Flags& flags) {
  std::istringstream words(flags.settings);
  ModelChoice choice{flags.model, parse_settings({std::istream_iterator<std::string>(words), {}})};
  if (!flags.hidden.empty()) {
    if (flags.model != "mlp")
      throw invalid_argument(fmt::format(
          "--hidden is for --model mlp, but the model is {}; omit one of them", flags.model));
    if (!choice.settings.emplace("hidden", flags.hidden).second)
      throw invalid_argument("--hidden and --set hidden=... say the same; omit one of them");
  }
  if (flags.model == "mlp") choice.settings.emplace("hidden", flags.name == "iris" ? "10" : "64");
  return choice;
}

double rate_of(const Flags& flags, const Recipe& recipe) {
  return flags.rate > 0 ? flags.rate : recipe.learning_rate;
}

std::string path_of(const Flags& flags) {
  return data_path(flags.data.empty() ? flags.name : flags.data);
}

Model make_model(const Flags& flags, const LabelledData& data) {
  const ModelChoice choice = choice_of(flags);
  Model model(architecture_of(choice, data.types, data.sample));
  const std::int64_t batches = (data.train_count + flags.batch_size - 1) / flags.batch_size;
  const Recipe recipe = recipe_of(choice);
  CompileOptions compile = recipe.compile(rate_of(flags, recipe), batches * flags.epochs);
  compile.metrics = {accuracy()};
  model.compile(std::move(compile));
  return model;
}

TrainingData examples_of(const Tuple& part) { return {part[0], part[1]}; }

std::string method_settings(const EnsembleOptions& options) {
  if (options.method == EnsembleMethod::bagging)
    return fmt::format("max_samples={}", options.max_samples);
  if (options.method == EnsembleMethod::stacking)
    return fmt::format("folds={} passthrough={}", options.folds, options.passthrough);
  return "";
}

EnsembleRun run_of(const Flags& flags) {
  const ModelChoice choice = completed(choice_of(flags));
  return {.data = flags.name,
          .path = std::filesystem::absolute(path_of(flags)).lexically_normal().string(),
          .model = choice.name,
          .settings = to_string(choice.settings),
          .method = flags.method,
          .method_settings = method_settings(flags.options),
          .vote = flags.vote,
          .weights = flags.options.weights,
          .seed = flags.options.seed,
          .loaded = flags.saved,
          .epochs = flags.epochs,
          .batch_size = flags.batch_size,
          .learning_rate = rate_of(flags, recipe_of(choice))};
}

EnsembleReport report_of(const Flags& flags, const Ensemble& trained, EnsembleScore score,
                         double seconds) {
  EnsembleReport report{run_of(flags), trained.members(), std::move(score), {}, trained.oob_score(),
                        seconds};
  for (const History& history : trained.histories())
    report.train_losses.push_back(history.of("loss").back());
  return report;
}

// Images that each member sees as the recipe of its model wants them.
EnsembleOptions options_of(const Flags& flags) {
  EnsembleOptions options = flags.options;
  const ImageAugmentation recipe = recipe_of(choice_of(flags)).augmentation;
  if (recipe.changes_images())
    options.training_data = [recipe](const Tuple& examples, std::uint64_t seed) {
      ImageAugmentation augmentation = recipe;
      augmentation.seed = seed;
      return augmented_images(examples[0], examples[1], augmentation);
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
  if (!flags.save.empty()) members.save(flags.save);
  if (!flags.onnx.empty()) members.export_onnx(flags.onnx);
}

// Beside their defaults, which the help of run_jobs() has.
constexpr const char* meanings =
    "What the parameters mean:\n"
    "  --members               how many, 2 or more; of snapshots, the cycles of one training\n"
    "  --method                full_data, bagging, stacking or snapshot\n"
    "  --vote                  soft or hard; --weights 2,1,1: one for each member's vote\n"
    "  --model                 mlp, or of images lenet, resnet20 or fast\n"
    "  --set 'key=value ...'   what is the model's own, such as hidden=64,32 (or --hidden 64,32) of "
    "mlp\n"
    "  --epochs --batch_size --learning_rate --seed   of each member's training; a rate of 0 is the "
    "model's own\n"
    "  --max_samples           of bagging: the share of the examples that is drawn for a member\n"
    "  --folds --passthrough   of stacking\n"
    "  --data PATH             images in a folder or a table *.csv, instead of the project's own data\n"
    "  --report FILE --plots DIR   JSON and SVG; --save DIR: checkpoints; --export DIR: one ONNX model\n"
    "  --load DIR              takes the members that --save has written, and trains none; with\n"
    "                          --damaged left_out without those whose files are damaged";

bool asks_for_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

}  // namespace

int main(int argc, char** argv) {
  const int status =
      run_jobs(argc, argv, {{"cifar10", learn}, {"digits", learn}, {"iris", learn}, {"mnist", learn}});
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (std::ranges::any_of(arguments, asks_for_help)) fmt::print("{}\n", meanings);
  return status;
}
