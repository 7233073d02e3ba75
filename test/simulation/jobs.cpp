// Map/reduce jobs on a disk that fails, in a process that dies: the files that a job has written are the
// same as those of a run that nothing has disturbed, and where there is a _SUCCESS all of them are
// there.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "actors/jobs/job.h"
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
  job.read_text(job.param("input"))
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>())
      .sort_by([](const auto& count) { return count.second; })
      .write_csv(job.param("output"));
}

// All records between stages lie on the disk.
void run(SimTask& task) {
  write_input(task.storage());
  JobOptions options;
  options.parameters = {{"input", "in"}, {"output", "out"}};
  options.threads = 2;
  options.memory_bytes = std::size_t{128} << 20;
  options.split_bytes = 9'000;
  options.partitions = 4;
  options.records_on_disk = true;
  options.overwrite = true;
  options.spill_folder = "spills";
  if (task.storage().exists("out/_SUCCESS")) return;
  Job job(options, task.server().runtime());
  sorted_counts(job);
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
    sim.start(run).finish();
    return output_of(sim);
  }();
  return files;
}

void run_through(const std::vector<FaultKind>& kinds) {
  const Files expected = undisturbed();
  BOOST_REQUIRE(expected.size() == 5u);  // four parts and _SUCCESS
  SimOptions options = of_this_seed({});
  options.restart_failed = 1s;
  SimCluster sim({{"local", 1}}, options);
  sim.apply(random_fault_plan(options.seed, sim.cluster().all_tasks(),
                              {.count = 4, .until = 60ms, .longest = 200ms, .kinds = kinds}));
  sim.start(run).finish();
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

BOOST_AUTO_TEST_SUITE_END()
