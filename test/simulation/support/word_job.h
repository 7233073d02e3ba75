// A simulated map/reduce job: words of a few files are counted and sorted, on one task or several,
// through faults.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/jobs/job.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/simulation_test.h"

namespace actorflow::test {

using namespace std::chrono_literals;

using WordFiles = std::map<std::string, std::string>;

inline std::string text_of_file(Storage& storage, const std::string& path) {
  const auto bytes = storage.read(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Some thousand words in a few files; written if they are missing.
inline void write_input(Storage& storage) {
  std::uint64_t state = 1;
  for (int file = 0; file < 3; ++file) {
    const std::string path = "in/text" + std::to_string(file);
    std::string text;
    for (int i = 0; i < 3000; ++i)
      text += "word" + std::to_string((state = scrambled(state)) % 500) + (i % 7 == 6 ? "\n" : " ");
    if (!storage.exists(path)) storage.write_atomically(path, std::as_bytes(std::span(text)));
  }
}

inline void sorted_counts(Job& job) {
  const Counter counter = job.counter("lines");
  job.read_text(job.param("input"))
      .map([counter](std::string_view line) {
        counter.add();
        return line;
      })
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>())
      .sort_by([](const auto& count) { return count.second; })
      .write_csv(job.param("output"));
}

inline JobOptions options_of_test() {
  JobOptions options;
  options.parameters = {{"input", "in"}, {"output", "out"}};
  options.threads = 2;
  options.memory_bytes = std::size_t{128} << 20;
  options.split_bytes = 9'000;
  options.partitions = 4;
  options.records_on_disk = true;  // all records between stages
  options.overwrite = true;
  options.spill_folder = "spills";
  return options;
}

inline bool is_done(Storage& storage) { return storage.exists("out/_SUCCESS"); }

inline void run_alone(SimTask& task) {
  write_input(task.storage());
  if (is_done(task.storage())) return;
  Job job(options_of_test(), task.server().runtime());
  sorted_counts(job);
}

// A task that comes back when the job has ended finds nobody who knows it.
inline void run_task(SimTask& task, Compression shuffled) {
  write_input(task.storage());
  if (is_done(task.storage())) return;
  JobOptions options = options_of_test();
  options.shuffle_compression = shuffled;
  try {
    run_job(task.server(), {{"sorted_counts", sorted_counts}}, "sorted_counts", options);
  } catch (const Error& error) {
    if (error.code() != Code::unavailable || !is_done(task.storage())) throw;
  }
}

inline WordFiles files_of(Storage& storage, const std::string& folder) {
  WordFiles files;
  for (const auto& name : storage.list(folder)) files[name] = text_of_file(storage, folder + "/" + name);
  return files;
}

inline WordFiles output_of(SimCluster& sim) {
  sim.storage().files().set_failures(0);  // the job may have ended before its last fault
  return files_of(sim.storage(), "out");
}

inline const WordFiles& undisturbed_words() {
  static const WordFiles files = [] {
    SimCluster sim({{"local", 1}}, SimOptions{});
    sim.start(run_alone).finish();
    return output_of(sim);
  }();
  return files;
}

// Faults of machines, disks and links are no reason for a task to distrust itself.
inline void expect_no_task_has_ended_itself(const SimCluster& sim) {
  const auto ends = sim.statistics().ends;
  if (!ends.empty()) throw std::runtime_error("a task has ended itself, because " + ends.front());
}

// Of a job that takes some 100 ms.
inline SimOptions options_of_a_short_job() {
  SimOptions options = of_this_seed({});
  options.restart_failed = 1s;
  options.longest_kernel = 4ms;
  options.time_limit = 5min;  // one that hangs is busy all that time: its tasks ask each other again
  return options;
}
// Its tasks fail in these ways while it runs; in none if there are no ways.
inline void disturb_a_short_job(SimCluster& sim, std::uint64_t seed, const std::vector<FaultKind>& kinds,
                                std::chrono::nanoseconds longest = 200ms) {
  sim.apply(random_fault_plan(
      seed, sim.cluster().all_tasks(),
      {.count = kinds.empty() ? 0 : 4, .until = 150ms, .longest = longest, .kinds = kinds}));
}

// Throws unless the files are those of a run that nothing disturbs. `shuffled`: how records travel
// between the tasks. `longest`: of the faults; from some seconds on a task counts as lost meanwhile.
inline void count_words_through(const std::vector<FaultKind>& kinds, int tasks = 1,
                                Compression shuffled = Compression::lz4,
                                std::chrono::nanoseconds longest = 200ms) {
  const WordFiles expected = undisturbed_words();
  if (expected.size() != 5) throw std::logic_error("four parts and _SUCCESS were expected");
  const SimOptions options = options_of_a_short_job();
  SimCluster sim({{"local", tasks}}, options);
  disturb_a_short_job(sim, options.seed, kinds, longest);
  auto run = sim.start(
      [tasks, shuffled](SimTask& task) { tasks == 1 ? run_alone(task) : run_task(task, shuffled); });
  run.finish("/job:local/task:0");
  expect_no_task_has_ended_itself(sim);
  if (output_of(sim) != expected)
    throw std::runtime_error("the files are not those of an undisturbed run");
}

}  // namespace actorflow::test
