#include "apps/scenario/scenario_jobs.h"

#include <fmt/format.h>

#include "apps/cli/program.h"
#include "apps/jobs/histogram.h"
#include "apps/jobs/inverted_index.h"
#include "apps/jobs/join.h"
#include "apps/jobs/k_means.h"
#include "apps/jobs/logistic_regression.h"
#include "apps/jobs/mean.h"
#include "apps/jobs/sparse_regression.h"
#include "apps/jobs/sql_q1.h"
#include "apps/jobs/sql_q3.h"
#include "apps/jobs/terasort.h"
#include "apps/jobs/top_k.h"
#include "apps/jobs/word_count.h"
#include "apps/scenario/counted_words.h"
#include "apps/scenario/made_inputs.h"

namespace actorflow {
namespace {

using Parameters = std::map<std::string, std::string>;

// Of a job that reads one input.
Parameters with(Parameters more = {}) {
  more.insert({{"input", "input"}, {"output", "output"}});
  return more;
}

const std::map<std::string, ScenarioJob>& scenario_jobs() {
  static const std::map<std::string, ScenarioJob> jobs{
      {"counted_words", {with()}},
      {"histogram", {with()}},
      {"inverted_index", {with()}},
      {"join",
       {{{"left", "input/left.csv"},
         {"right", "input/right.csv"},
         {"kind", "outer"},
         {"output", "output"}},
        tables_to_join}},
      {"k_means", {with({{"k", "4"}, {"rounds", "3"}}), points_to_group}},
      {"logistic_regression", {with({{"rounds", "3"}}), labelled_examples}},
      {"mean", {with(), numbers_as_text}},
      {"sparse_regression", {with({{"features", "60"}, {"epochs", "2"}}), sparse_examples}},
      {"sql_q1", {{{"lineitem", "input/lineitem.csv"}, {"output", "output"}}, line_items}},
      {"sql_q3",
       {{{"customer", "input/customer.csv"},
         {"orders", "input/orders.csv"},
         {"lineitem", "input/lineitem.csv"},
         {"output", "output"}},
        tables_of_orders}},
      {"terasort", {with(), records_to_sort}},
      {"top_k", {with()}},
      {"word_count", {with()}}};
  return jobs;
}

}  // namespace

const JobTable& scenario_job_table() {
  static const JobTable jobs{{"counted_words", counted_words},
                             {"histogram", histogram_of_lengths},
                             {"inverted_index", inverted_index},
                             {"join", join_files},
                             {"k_means", k_means},
                             {"logistic_regression", logistic_regression},
                             {"mean", mean_of_numbers},
                             {"sparse_regression", sparse_regression},
                             {"sql_q1", tpch_q1},
                             {"sql_q3", tpch_q3},
                             {"terasort", terasort},
                             {"top_k", most_frequent_words},
                             {"word_count", word_count}};
  return jobs;
}

const ScenarioJob& find_scenario_job(const std::string& name) {
  const auto& jobs = scenario_jobs();
  if (const auto found = jobs.find(name); found != jobs.end()) return found->second;
  std::string names;
  for (const auto& [known, job] : jobs) names += (names.empty() ? "" : ", ") + known;
  throw UsageError(fmt::format("job: expected one of {}, got '{}'", names, name));
}

}  // namespace actorflow
