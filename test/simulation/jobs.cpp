// Map/reduce jobs on a disk that fails, in a process that dies: the files that a job has written are the
// same as those of a run that nothing has disturbed, and where there is a _SUCCESS all of them are
// there.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "actors/jobs/job.h"
#include "actors/probes/point.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/simulation_test.h"

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

using Files = std::map<std::string, std::string>;

std::string text_of(Storage& storage, const std::string& path) {
  const auto bytes = storage.read(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Some thousand words in a few files; written if they are missing.
void write_input(Storage& storage) {
  std::uint64_t state = 1;
  for (int file = 0; file < 3; ++file) {
    const std::string path = "in/text" + std::to_string(file);
    std::string text;
    for (int i = 0; i < 3000; ++i)
      text += "word" + std::to_string((state = scrambled(state)) % 500) + (i % 7 == 6 ? "\n" : " ");
    if (!storage.exists(path)) storage.write_atomically(path, std::as_bytes(std::span(text)));
  }
}

void sorted_counts(Job& job) {
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

JobOptions options_of_test() {
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

bool is_done(Storage& storage) { return storage.exists("out/_SUCCESS"); }

void run_alone(SimTask& task) {
  write_input(task.storage());
  if (is_done(task.storage())) return;
  Job job(options_of_test(), task.server().runtime());
  sorted_counts(job);
}

// A task that comes back when the job has ended finds nobody who knows it.
void run_task(SimTask& task) {
  write_input(task.storage());
  if (is_done(task.storage())) return;
  try {
    run_job(task.server(), {{"sorted_counts", sorted_counts}}, "sorted_counts", options_of_test());
  } catch (const Error&) {
    if (!is_done(task.storage())) throw;
  }
}

Files output_of(SimCluster& sim) {
  sim.storage().files().set_failures(0);  // the job may have ended before its last fault
  Files files;
  for (const auto& name : sim.storage().list("out"))
    if (!name.ends_with(".tmp")) files[name] = text_of(sim.storage(), "out/" + name);
  return files;
}

const Files& undisturbed() {
  static const Files files = [] {
    SimCluster sim({{"local", 1}}, SimOptions{});
    sim.start(run_alone).finish();
    return output_of(sim);
  }();
  return files;
}

void run_through(const std::vector<FaultKind>& kinds, int tasks = 1) {
  const Files expected = undisturbed();
  BOOST_REQUIRE(expected.size() == 5u);  // four parts and _SUCCESS
  SimOptions options = of_this_seed({});
  options.restart_failed = 1s;
  options.longest_kernel = 4ms;
  SimCluster sim({{"local", tasks}}, options);
  sim.apply(random_fault_plan(options.seed, sim.cluster().all_tasks(),
                              {.count = kinds.empty() ? 0 : 4, .until = 150ms, .longest = 200ms, .kinds = kinds}));
  auto run = sim.start(tasks == 1 ? run_alone : run_task);
  run.finish("/job:local/task:0");
  BOOST_TEST_MESSAGE("took " << sim.statistics().simulated.count() / 1000 << " us");
  BOOST_TEST((output_of(sim) == expected));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(jobs)

SIMULATION_TEST(a_job_that_is_killed_and_started_again_writes_the_same_files, seeds(1, 100)) {
  run_through({FaultKind::kill, FaultKind::power, FaultKind::pause});
}

SIMULATION_TEST(a_disk_that_fails_or_is_full_changes_no_byte, seeds(1, 100)) {
  run_through({FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill});
}

SIMULATION_TEST(tasks_that_nothing_disturbs_write_the_files_of_one, seeds(1, 50)) {
  run_through({}, 3);
}

SIMULATION_TEST(tasks_that_are_lost_change_no_byte, seeds(1, 200)) {
  run_through({FaultKind::kill, FaultKind::pause, FaultKind::partition}, 3);
}

SIMULATION_TEST(tasks_with_bad_disks_and_links_change_no_byte, seeds(1, 200)) {
  run_through({FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill, FaultKind::duplicate}, 4);
}

// What the runs above have met.
BOOST_AUTO_TEST_CASE(rare_situations_of_jobs_are_reached) {
  for (const auto& [name, hits] : Point::take_all()) BOOST_TEST_MESSAGE(name << ": " << hits);
}

BOOST_AUTO_TEST_SUITE_END()
