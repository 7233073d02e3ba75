// Scenarios on real processes: actorflow simulate --real. What comes out is compared with the
// simulation, bit by bit.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "apps/rehearsal/memory_disk.h"
#include "apps/rehearsal/real_task.h"
#include "apps/rehearsal/rehearse.h"
#include "apps/scenario/simulate.h"
#include "dataflow/values/error.h"
#include "test/apps/support/machines.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(rehearsal)

using namespace actorflow;
using namespace actorflow::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

boost::test_tools::assertion_result has_disks(boost::unit_test::test_unit_id) {
  static const std::string why = MemoryDisk::why_none();
  boost::test_tools::assertion_result result(why.empty());
  result.message() << "file systems cannot be mounted here: " << why;
  return result;
}

// A small job: 2 parameter servers and 3 workers, which wait for each other in every step.
class Rehearsal {
 public:
  explicit Rehearsal(const std::string& faults, const std::string& more = {}) {
    fs::create_directory(temporary());
    write_file(scenario(),
               "ps = 2\nworkers = 3\nsync = true\ndata = digits\nhidden = 8\nbatch_size = 8\n"
               "train_steps = 1000\nkernel_time = 10us\nsame_weights = true\nfaults = \"" +
                   faults + "\"\n" + more);
  }

  std::string scenario() const { return folder_.file("small.scenario"); }
  // Where the job's own files are.
  std::string temporary() const { return folder_.file("temporary"); }
  bool has_left_files() const { return !fs::is_empty(temporary()); }
  std::vector<std::string> command(std::vector<std::string> before = {}) const {
    std::vector<std::string> all{"/usr/bin/env", "TMPDIR=" + temporary()};
    std::ranges::move(before, std::back_inserter(all));
    all.insert(all.end(),
               {ACTORFLOW_BIN_DIR "/actorflow", "simulate", scenario(), "--seeds=1", "--real"});
    return all;
  }
  // The job's folder, once this file of it says so.
  std::string wait_for_file(const std::string& name, const std::string& text) const {
    for (const auto end = std::chrono::steady_clock::now() + 60s;
         std::chrono::steady_clock::now() < end;) {
      std::error_code gone;
      for (const auto& entry : fs::directory_iterator(temporary(), gone))
        if (read_file((entry.path() / name).string()).find(text) != std::string::npos)
          return entry.path().string();
      std::this_thread::sleep_for(10ms);
    }
    BOOST_FAIL("no file " << name << " with '" << text << "'");
    return {};
  }

 private:
  Folder folder_;
};

// Returns what the command has printed.
std::string expect_success(const Rehearsal& rehearsal, const std::string& faults) {
  Process process(rehearsal.command());
  BOOST_TEST(process.wait() == 0, process.output());
  BOOST_TEST(process.output().find("1 seeds, 0 failed") != std::string::npos, process.output());
  BOOST_TEST(process.output().find("faults: " + faults + "\n") != std::string::npos, process.output());
  BOOST_TEST(process.output().find("too late") == std::string::npos, process.output());
  BOOST_TEST(!rehearsal.has_left_files());
  return process.output();
}

bool someone_runs_with(const std::string& text) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code gone;
    if (fs::is_directory(entry, gone) &&
        read_file((entry.path() / "cmdline").string()).find(text) != std::string::npos)
      return true;
  }
  return false;
}

// A task whose program is this script, looked at until it ends.
std::string end_of(const std::string& script, const Folder& folder) {
  RealTask task({"worker", 0}, {}, {"/bin/sh", "-c", script}, folder.file("log"));
  task.start();
  try {
    while (task.is_running() || task.has_failed()) task.look(std::chrono::steady_clock::now());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(killed_stopped_and_slow_processes_end_with_the_weights_of_the_simulation) {
  expect_success(
      Rehearsal(
          "0.1s kill /job:ps/task:0; 0.4s restart /job:ps/task:0; 0.5s pause /job:worker/task:1 for 1s; "
          "1s kill /job:worker/task:0; 1.2s restart /job:worker/task:0; "
          "1.3s slow /job:worker/task:1 for 0.5s"),
      "2 kill, 1 pause, 2 restart, 1 slow");
}

BOOST_AUTO_TEST_CASE(all_processes_at_once_lose_power) {
  expect_success(Rehearsal("0.1s power for 0.5s"), "1 power");
}

BOOST_AUTO_TEST_CASE(a_bad_network_between_processes_changes_no_bit,
                     *boost::unit_test::precondition(actorflow::test::has_machines)) {
  const std::string output = expect_success(
      Rehearsal("0.1s partition /job:worker/task:1 /job:ps/task:0 for 1s; 0.2s lossy for 4s; "
                "0.3s duplicate for 4s; 0.4s late for 6s; 0.5s delay /job:worker/task:0 for 0.8s"),
      "1 delay, 1 duplicate, 1 late, 1 lossy, 1 partition");
  for (const auto* none : {" 0 sent", " 0 lost", " 0 doubled", " 0 held back", " 0 between"})
    BOOST_TEST(output.find(none) == std::string::npos, output);
}

BOOST_AUTO_TEST_CASE(a_full_disk_changes_no_bit, *boost::unit_test::precondition(has_disks)) {
  expect_success(Rehearsal("0.1s disk_full for 1s; 0.2s pause /job:worker/task:1 for 0.5s"),
                 "1 disk_full, 1 pause");
}

BOOST_AUTO_TEST_CASE(nothing_can_be_written_to_a_full_disk, *boost::unit_test::precondition(has_disks)) {
  const Folder folder;
  MemoryDisk disk(folder.path());
  const auto can_write = [&folder](const std::string& name) {
    return static_cast<bool>(std::ofstream(folder.file(name)) << "more" << std::flush);
  };
  BOOST_TEST(can_write("before"));
  disk.fill();
  BOOST_TEST(!can_write("meanwhile"));
  fs::remove(folder.file("before"));
  disk.fill();
  BOOST_TEST(!can_write("instead"));
  disk.make_room();
  BOOST_TEST(can_write("after"));
}

BOOST_AUTO_TEST_CASE(a_failure_names_the_seed_and_keeps_the_logs) {
  const Rehearsal rehearsal(
      "0.1s kill /job:ps/task:0; 0.1s kill /job:ps/task:1; 0.1s kill /job:worker/task:0; "
      "0.1s kill /job:worker/task:1; 0.1s kill /job:worker/task:2");
  Process process(rehearsal.command());
  BOOST_TEST(process.wait() == 1);
  const std::string output = process.output();
  BOOST_REQUIRE_MESSAGE(rehearsal.has_left_files(), output);
  const std::string folder = fs::directory_iterator(rehearsal.temporary())->path().string();
  const std::vector<std::string> parts{
      "seed 1 fails with these faults: 0.1s kill /job:ps/task:0; ", "was killed and not restarted",
      folder, "actorflow simulate " + rehearsal.scenario() + " --real --seeds 1\n", "1 seeds, 1 failed"};
  for (const auto& part : parts)
    BOOST_TEST(output.find(part) != std::string::npos, output << "lacks " << part);
  BOOST_TEST(read_file(folder + "/events.log").find("0.1s kill /job:ps/task:0") != std::string::npos);
  BOOST_TEST(read_file(folder + "/worker-0.log").find("--- life 1") != std::string::npos);
  BOOST_TEST(!someone_runs_with(folder));
}

BOOST_AUTO_TEST_CASE(a_job_that_hangs_is_ended) {
  const Rehearsal rehearsal("0.1s pause /job:worker/task:1 for 60s", "time_limit = 3s\n");
  Process process(rehearsal.command());
  BOOST_TEST(process.wait() == 1);
  const std::regex hangs("the job hangs: after [0-9]+ s\n  /job:ps/task:0 is still running");
  BOOST_TEST(std::regex_search(process.output(), hangs), process.output());
  BOOST_TEST(!someone_runs_with(rehearsal.temporary()));
}

BOOST_AUTO_TEST_CASE(weights_other_than_those_of_the_simulation_are_found) {
  const Rehearsal rehearsal("");
  const Scenario scenario = Scenario::read(rehearsal.scenario());
  TrainReport other = simulate_undisturbed(scenario).report;
  other.weights_hash ^= 1;
  const std::atomic<bool> never{false};
  const auto sum = rehearse(scenario, other, {1, 1}, 1, never, [](const RehearsalSummary&) {});
  BOOST_REQUIRE(sum.failures.size() == 1u);
  const std::string& failure = sum.failures.front().text;
  BOOST_TEST(failure.find("seed 1 fails with no fault at all: the weights are ") != std::string::npos,
             failure);
  const std::string folder = failure.substr(failure.rfind(' ') + 1);
  BOOST_TEST(read_file(folder + "/worker-0.log").find("step 1000/1000") != std::string::npos, failure);
  fs::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(an_interrupt_leaves_no_process_and_no_file) {
  const Rehearsal rehearsal("0.1s pause /job:worker/task:1 for 60s");
  Process process(rehearsal.command());
  const std::string folder = rehearsal.wait_for_file("events.log", "pause /job:worker/task:1");
  BOOST_TEST(someone_runs_with(folder));
  process.send_signal(SIGINT);
  BOOST_TEST(process.wait() == 130, process.output());
  BOOST_TEST(!someone_runs_with(folder));
  BOOST_TEST(!rehearsal.has_left_files());
}

BOOST_AUTO_TEST_CASE(missing_rights_are_named_before_anything_starts) {
  const Rehearsal rehearsal("0.1s lossy for 1s; 0.2s disk_full for 1s");
  // Where this process cannot have machines and disks either, that is the reason.
  const bool has_both = Lan::why_none().empty() && MemoryDisk::why_none().empty();
  const bool has_none = !Lan::why_none().empty() && !MemoryDisk::why_none().empty();
  std::vector<std::string> less_rights;
  if (!has_none) less_rights = {"/usr/bin/setpriv", "--bounding-set=-sys_admin"};
  Process process(rehearsal.command(less_rights));
  BOOST_TEST(process.wait() == 2);
  std::vector<std::string> parts{"faults that need network namespaces",
                                 ": lossy;",
                                 "faults that need a file system in memory",
                                 ": disk_full;",
                                 "run as root",
                                 "kinds = kill,pause,slow"};
  if (has_both) parts.emplace_back("Operation not permitted");
  for (const auto& part : parts)
    BOOST_TEST(process.output().find(part) != std::string::npos, process.output() << "lacks " << part);
  BOOST_TEST(!rehearsal.has_left_files());
}

BOOST_AUTO_TEST_CASE(an_end_that_no_fault_explains_is_an_error) {
  const Folder folder;
  BOOST_TEST(end_of("exit 0", folder) == "");
  BOOST_TEST(
      end_of("echo lost; kill -SEGV $$", folder).find("signal 11, which none of the faults explains") !=
      std::string::npos);
  BOOST_TEST(end_of("echo lost; exit 2", folder).find("ended with status 2") != std::string::npos);
  BOOST_TEST(end_of("echo lost; exit 2", folder).find("lost") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_error_is_followed_by_another_life) {
  const Folder folder;
  const std::string script =
      "test -e " + folder.file("second") + " && exit 0; touch " + folder.file("second") + "; exit 1";
  BOOST_TEST(end_of(script, folder) == "");
  BOOST_TEST(read_file(folder.file("log")).find("--- life 2") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
