// What jobs do within keys, through faults: values that are sorted within each, windows, matches of two
// collections, the best of each, and an output divided by a column. The files are those of a run that
// nothing has disturbed, each is there once, and none is left in the making.
#include <boost/test/unit_test.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/simulation/support/commit_crash.h"
#include "test/simulation/support/word_job.h"

BOOST_AUTO_TEST_SUITE(job_groups)

using namespace actorflow;
using test::WordFiles;

namespace {

constexpr int most_digits = 3;  // of "word499"

// Words by their number of digits: the first of each, unless "word7" and so on begin as a rare word
// does.
void numbered_words(Job& job) {
  const auto all = job.read_text(job.param("input")).flat_map(words);
  const auto by_word = all.key_by(std::identity());
  const auto rare = by_word.count_by_key().filter_values([](std::int64_t count) { return count < 12; });
  by_word.anti_join(rare)
      .union_with(by_word.semi_join(rare.filter([](const auto& pair) { return pair.second % 2 == 0; })))
      .values()
      .key_by([](const auto& word) { return static_cast<std::int64_t>(word.size() - 4); })
      .sort_values_by(std::identity())
      .window(row_number(), lag(std::identity(), 2), lead(std::identity()))
      .filter_values([](const auto& row) { return std::get<1>(row) % 3 != 0; })
      .write_csv_by_key(job.param("output"), "digits");
}

// The same words as they come: each part writes a file for each number of digits.
void divided_words(Job& job) {
  job.read_text(job.param("input"))
      .flat_map(words)
      .key_by([](auto word) { return static_cast<std::int64_t>(word.size() - 4); })
      .write_csv_by_key(job.param("output"), "digits");
}

// Two words of each first letter and digit, by how often they are there.
void best_words(Job& job) {
  job.read_text(job.param("input"))
      .flat_map(words)
      .key_by(std::identity())
      .count_by_key()
      .key_by([](const auto& count) { return count.first[4]; })
      .top_by_key(2, [](const auto& count) { return std::pair(count.second, count.first); })
      .flat_map_values(std::identity())
      .write_csv(job.param("output"));
}

using JobFunction = void (*)(Job&);

// With the files of the column's folders.
WordFiles output_of(SimCluster& sim) {
  WordFiles files = test::output_of(sim);
  for (int digits = 1; digits <= most_digits; ++digits) {
    const std::string folder = "out/digits=" + std::to_string(digits);
    for (auto& [name, text] : test::files_of(sim.storage(), folder)) files[folder + "/" + name] = text;
  }
  return files;
}

void run(SimTask& task, JobFunction function, int tasks) {
  test::write_input(task.storage());
  if (test::is_done(task.storage())) return;
  const JobOptions options = test::options_of_test();
  if (tasks == 1) {
    Job job(options, task.server().runtime());
    return function(job);
  }
  try {
    run_job(task.server(), {{"job", function}}, "job", options);
  } catch (const Error& error) {  // who comes back when the job has ended finds nobody
    if (error.code() != Code::unavailable || !test::is_done(task.storage())) throw;
  }
}

WordFiles undisturbed(JobFunction function) {
  SimCluster sim({{"local", 1}}, SimOptions{});
  sim.start([function](SimTask& task) { run(task, function, 1); }).finish();
  return output_of(sim);
}

void run_through(JobFunction function, const WordFiles& expected, const std::vector<FaultKind>& kinds,
                 int tasks) {
  const SimOptions options = test::options_of_a_short_job();
  SimCluster sim({{"local", tasks}}, options);
  test::disturb_a_short_job(sim, options.seed, kinds);
  sim.start([function, tasks](SimTask& task) { run(task, function, tasks); })
      .finish("/job:local/task:0");
  test::expect_no_task_has_ended_itself(sim);
  if (output_of(sim) != expected)
    throw std::runtime_error("the files are not those of an undisturbed run");
}

void run_through_a_crash(JobFunction function, const WordFiles& expected, int tasks) {
  const SimOptions options = test::options_of_a_short_job();
  test::CommitCrash crash(options.seed);
  SimCluster sim({{"local", tasks}}, options);
  const test::CommitCrash::Watch watch(crash, sim);
  sim.start([function, tasks](SimTask& task) { run(task, function, tasks); })
      .finish("/job:local/task:0");
  if (!crash.has_happened()) throw std::runtime_error("no task was lost in the middle of a commit");
  if (output_of(sim) != expected)
    throw std::runtime_error("the files are not those of an undisturbed run");
}

const WordFiles& divided() {
  static const WordFiles files = undisturbed(divided_words);
  return files;
}

// Of the job that sorts its words: a file for each of the digits, and _SUCCESS.
const WordFiles& numbered() {
  static const WordFiles files = undisturbed(numbered_words);
  if (files.size() != 1 + most_digits) throw std::logic_error("three files and _SUCCESS were expected");
  return files;
}

}  // namespace

SIMULATION_TEST(a_divided_output_is_whole_after_kills_and_losses_of_power, seeds(1, 60)) {
  run_through(numbered_words, numbered(), {FaultKind::kill, FaultKind::power, FaultKind::pause}, 1);
}

SIMULATION_TEST(a_divided_output_of_three_tasks_has_no_file_twice, seeds(1, 60)) {
  run_through(numbered_words, numbered(), {FaultKind::kill, FaultKind::pause, FaultKind::partition}, 3);
}

SIMULATION_TEST(a_divided_output_survives_bad_disks, seeds(1, 60)) {
  run_through(numbered_words, numbered(),
              {FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill, FaultKind::duplicate}, 3);
}

SIMULATION_TEST(a_task_that_dies_while_the_files_of_a_part_take_their_places_changes_none,
                seeds(1, 60)) {
  run_through_a_crash(divided_words, divided(), 1);
}

SIMULATION_TEST(so_does_one_of_three, seeds(1, 60)) { run_through_a_crash(divided_words, divided(), 3); }

SIMULATION_TEST(the_best_of_each_key_are_the_same_through_kills, seeds(1, 40)) {
  static const WordFiles expected = undisturbed(best_words);
  run_through(best_words, expected, {FaultKind::kill, FaultKind::pause, FaultKind::partition}, 3);
}

BOOST_AUTO_TEST_SUITE_END()
