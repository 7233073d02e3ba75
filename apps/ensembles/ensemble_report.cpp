#include "apps/ensembles/ensemble_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/plots/charts.h"
#include "apps/training/reports/answers.h"
#include "schema/json.h"

namespace actorflow {
namespace {

double mean_of_members(const EnsembleScore& score) { return score.ensemble - score.gain(); }
double best_of_members(const EnsembleScore& score) { return *std::ranges::max_element(score.members); }

void save_members(const std::string& folder, const EnsembleReport& report) {
  BarChart chart{fmt::format("Members and their vote: {}, {}", report.run.data, report.run.method),
                 "accuracy on the test examples"};
  double least = report.test.ensemble;
  for (std::size_t i = 0; i < report.members.size(); ++i) {
    chart.bars.push_back({fmt::format("member {}", report.members[i]), report.test.members[i]});
    least = std::min(least, report.test.members[i]);
  }
  chart.bars.push_back({"all together", report.test.ensemble, true});
  chart.from = std::max(0.0, std::floor(least * 20 - 0.5) / 20);
  save_plot(folder, "members", to_svg(chart));
}

void save_losses(const std::string& folder, const std::vector<History>& histories) {
  LineChart chart{"Loss of the members", "epoch", "training loss"};
  for (std::size_t i = 0; i < histories.size(); ++i)
    chart.series.push_back({fmt::format("member {}", i), by_epoch(histories[i].of("loss"))});
  save_plot(folder, "loss", to_svg(chart));
}

// In percentage points, rounded as they are printed, so that what rounds to 0 has no minus.
double printed_gain(const EnsembleScore& score) { return std::round(1e4 * score.gain()) / 100 + 0.0; }

// How members that were loaded have been trained is not known here.
JsonMembers json_of_run(const EnsembleRun& run) {
  JsonMembers json{{"version", ACTORFLOW_VERSION},
                   {"data", run.data},
                   {"path", run.path},
                   {"model", run.model},
                   {"settings", run.settings},
                   {"method", run.method},
                   {"method_settings", run.method_settings},
                   {"vote", run.vote},
                   {"weights", run.weights},
                   {"device", run.device}};
  if (!run.loaded.empty()) {
    json.emplace_back("loaded", run.loaded);
    return json;
  }
  json.emplace_back("seed", run.seed);
  json.emplace_back("epochs", run.epochs);
  json.emplace_back("batch_size", run.batch_size);
  json.emplace_back("learning_rate", run.learning_rate);
  return json;
}

}  // namespace

std::string to_json(const EnsembleReport& report) {
  const std::vector<std::int64_t> numbers(report.members.begin(), report.members.end());
  JsonMembers json = json_of_run(report.run);
  json.insert(json.end(), {{"members", numbers},
                           {"metric", report.test.metric},
                           {"member_scores", report.test.members},
                           {"member_train_losses", report.train_losses},
                           {"mean_of_members", mean_of_members(report.test)},
                           {"best_member", best_of_members(report.test)},
                           {"ensemble", report.test.ensemble},
                           {"gain", report.test.gain()},
                           {"out_of_bag", report.out_of_bag.value_or(NAN)},
                           {"train_seconds", report.train_seconds}});
  return json_object(json);
}

std::string to_text(const EnsembleReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.members.size(); ++i)
    text += fmt::format("member {:<3} {:7.2f} %\n", report.members[i], 100 * report.test.members[i]);
  text += fmt::format("{:<10} {:7.2f} %, {:+.2f} over its members' mean ({}, {})\n", "ensemble",
                      100 * report.test.ensemble, printed_gain(report.test), report.run.method,
                      report.run.vote);
  if (report.out_of_bag) text += fmt::format("out-of-bag {:7.2f} %\n", 100 * *report.out_of_bag);
  return text;
}

void save_plots(const std::string& folder, const EnsembleReport& report,
                const std::vector<History>& histories, const LabelledData& data, const Tuple& tested) {
  save_members(folder, report);
  if (!histories.empty()) save_losses(folder, histories);
  Answers answers;
  answers.add(data, tested, report.test.predicted.values<std::int64_t>());
  save_answers(folder, data, answers);
}

}  // namespace actorflow
