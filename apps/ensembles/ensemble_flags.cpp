#include "apps/ensembles/ensemble_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <ranges>
#include <sstream>
#include <vector>

#include "actors/models/images/augmentation.h"
#include "apps/cli/data_folder.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

const std::map<std::string, EnsembleMethod> methods{{"full_data", EnsembleMethod::full_data},
                                                    {"bagging", EnsembleMethod::bagging},
                                                    {"stacking", EnsembleMethod::stacking},
                                                    {"snapshot", EnsembleMethod::snapshot}};
const std::map<std::string, DamagedMembers> damages{{"refused", DamagedMembers::refused},
                                                    {"left_out", DamagedMembers::left_out}};
const std::map<std::string, Vote> votes{{"soft", Vote::soft}, {"hard", Vote::hard}};

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
  const std::int64_t epochs = std::lround(std::clamp(recipe.epochs, 1.0, most));
  if (method != "snapshot" || members < 1) return static_cast<int>(epochs);
  return static_cast<int>((epochs + members - 1) / members * members);
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

// Divided by commas.
std::vector<double> numbers_of(const std::string& flag, const std::string& text) {
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
T chosen(const std::string& flag, const std::map<std::string, T>& known, const std::string& text) {
  if (const auto found = known.find(text); found != known.end()) return found->second;
  throw invalid_argument(fmt::format("--{}: expected one of {}, got '{}'", flag,
                                     joined(std::views::keys(known), ", "), text));
}

ModelSettings settings_of(const std::string& text) {
  std::istringstream words(text);
  return parse_settings({std::istream_iterator<std::string>(words), {}});
}

}  // namespace

bool has_schedule(const Recipe& recipe) {
  return static_cast<bool>(recipe.compile(recipe.learning_rate, 1).learning_rate);
}

EnsembleFlags::EnsembleFlags(Job& job)
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
T EnsembleFlags::of_ensemble(const Job& job, const char* flag, const T& otherwise,
                             T SavedEnsemble::*saved_as) const {
  if (!loaded) return job.param(flag, otherwise);
  const T was = (*loaded).*saved_as, given = job.param(flag, was);
  if (given != was) throw contradiction(fmt::format("{} {}", flag, given), fmt::format("{}", was));
  return given;
}

Error EnsembleFlags::contradiction(const std::string& given, const std::string& was) const {
  return invalid_argument(
      fmt::format("--{}: the ensemble in {} was saved with {}; omit the flag", given, saved, was));
}

// The settings that flags give.
ModelChoice EnsembleFlags::given_choice() const {
  ModelChoice choice{model, settings_of(settings)};
  if (!hidden.empty()) {
    if (model != "mlp")
      throw invalid_argument(
          fmt::format("--hidden is for --model mlp, but the model is {}; omit one of them", model));
    if (!choice.settings.emplace("hidden", hidden).second)
      throw invalid_argument("--hidden and --set hidden=... say the same; omit one of them");
  }
  return choice;
}

ModelChoice EnsembleFlags::choice() const {
  ModelChoice choice = given_choice();
  if (loaded) {
    const std::string given = hidden.empty() ? "set " + to_string(choice.settings) : "hidden " + hidden;
    const ModelChoice whole = completed({model, settings_of(loaded->settings)});
    choice.settings.merge(ModelSettings(whole.settings));
    if (choice.settings != whole.settings) throw contradiction(given, loaded->settings);
    return choice;
  }
  // A small perceptron is enough for small data.
  if (model == "mlp") choice.settings.emplace("hidden", name == "iris" ? "10" : "64");
  return choice;
}

std::string EnsembleFlags::path() const { return data_path(data.empty() ? name : data); }

}  // namespace actorflow
