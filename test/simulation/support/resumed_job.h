// The simulated job of word_job.h with a work folder: after the loss of all its tasks it goes on where
// it was.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/simulation/world/world.h"
#include "test/simulation/support/word_job.h"

namespace actorflow::test {

// What the lives of a job's tasks say of it.
class ResumeTally final : public JobReporter {
 public:
  void report(const StageReport& report) override {
    if (report.is_last) resumed_ += report.resumed;
    not_whole_ = std::max(not_whole_, report.not_whole);
  }
  std::size_t resumed() const { return resumed_; }
  std::size_t not_whole() const { return not_whole_; }

 private:
  std::size_t resumed_ = 0, not_whole_ = 0;
};

inline bool has_journal(Storage& storage) {
  const auto names = storage.list("work");
  return std::ranges::any_of(names, [](const auto& name) { return name.starts_with("journal-"); });
}

// A job that was lost after its last file goes on, too: what it has kept is to be removed.
inline void resume_job(SimTask& task, ResumeTally& tally) {
  write_input(task.storage());
  if (is_done(task.storage()) && !has_journal(task.storage())) return;
  JobOptions options = options_of_test();
  options.name = "sorted_counts";
  options.work_folder = "work";
  options.resume = true;
  options.reporter = &tally;
  if (task.server().cluster().all_tasks().size() > 1) {
    try {
      run_job(task.server(), {{"sorted_counts", sorted_counts}}, "sorted_counts", options);
    } catch (const Error& error) {
      if (error.code() != Code::unavailable || !is_done(task.storage())) throw;
    }
    return;
  }
  Job job(options, task.server().runtime());
  sorted_counts(job);
  job.end();
}

inline bool disk_fails(const std::vector<FaultKind>& kinds) {
  return std::ranges::any_of(kinds, [](FaultKind kind) {
    return kind == FaultKind::disk_errors || kind == FaultKind::disk_full;
  });
}

// Throws unless the files are those of a run that nothing disturbs, nothing is left behind, and nothing
// that the journal says is there is made again. `damaged`: a bit of a file of the work folder whose name
// contains this changes while the power is off; none: "".
inline void resume_words_through(const std::vector<FaultKind>& kinds, int tasks,
                                 const std::string& damaged = {}) {
  const WordFiles expected = undisturbed_words();
  SimOptions options = of_this_seed({});
  options.restart_failed = 1s;
  options.time_limit = 5min;
  options.longest_kernel = 4ms;
  ResumeTally tally;  // outlives the tasks
  SimCluster sim({{"local", tasks}}, options);
  const auto plan = random_fault_plan(options.seed, sim.cluster().all_tasks(),
                                      {.count = 4, .until = 150ms, .longest = 200ms, .kinds = kinds});
  sim.apply(plan);
  if (!damaged.empty())
    for (const auto& fault : plan)
      sim.world().at(World::beginning + fault.at + 1ns,
                     [&sim, damaged] { sim.storage().files().flip_a_bit("work/" + damaged); });
  auto run = sim.start([&tally](SimTask& task) { resume_job(task, tally); });
  run.finish("/job:local/task:0");
  expect_no_task_has_ended_itself(sim);
  if (output_of(sim) != expected)
    throw std::runtime_error("the files are not those of an undisturbed run");
  if (damaged.empty() && !disk_fails(kinds) && tally.not_whole() > 0)
    throw std::runtime_error("the journal has promised what was not there");
  if (!disk_fails(kinds) && !sim.storage().list("work").empty())
    throw std::runtime_error("the work folder is not empty: " + sim.storage().list("work").front());
}

// How many parts the journal saves a job of one task that loses everything when most of it is done.
inline std::size_t parts_saved_by_the_journal() {
  ResumeTally undisturbed, tally;
  const auto job_of = [](ResumeTally& of) { return [&of](SimTask& task) { resume_job(task, of); }; };
  SimOptions options = of_this_seed({});
  options.longest_kernel = 4ms;
  std::chrono::nanoseconds duration{0};
  {
    SimCluster sim({{"local", 1}}, options);
    sim.start(job_of(undisturbed)).finish();
    duration = sim.statistics().simulated;
  }
  SimCluster sim({{"local", 1}}, options);
  sim.at(duration * 7 / 10).fault(FaultKind::power, 10ms);
  sim.start(job_of(tally)).finish();
  if (output_of(sim) != undisturbed_words()) throw std::runtime_error("the files are other ones");
  return tally.resumed();
}

}  // namespace actorflow::test
