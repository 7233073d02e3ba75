// Callbacks that stop training in clusters of processes: what they have seen, and that they have
// stopped, on disks that fail and in tasks that are killed; tasks whose callbacks differ. Each task is a
// stopping_trainer (stopping/).
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/apps/support/tf_config_cluster.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(stopped_clusters)

using namespace actorflow::test;

namespace {

using Flags = std::vector<std::string>;

const Jobs with_ps{{"ps", 2}, {"chief", 1}, {"worker", 2}}, ranks{{"worker", 3}};
// Both end after 160 epochs of 5 steps; the first one with the weights of the fortieth.
const Flags patient{"--patience=120"}, own{"--stop_after=160"};

// The file of a checkpoint that has the state of callbacks is its last, of which with `with_ps` there
// are at least two before.
constexpr const char* state_fails =
    "fsync 2-of-2.safetensors 5\nfsync 3-of-3.safetensors 5\nfsync 4-of-4.safetensors 5\n";  // EIO
constexpr const char* mark_fails = "rename training-complete 5\n";

// A job, on a disk that fails where a test says so.
struct StoppedCluster {
  explicit StoppedCluster(const Jobs& of_job)
      : jobs(of_job),
        chief_job(jobs.contains("chief") ? "chief" : "worker"),
        tasks(
            {"/usr/bin/env", "LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + folder.file("rules"),
             ACTORFLOW_BIN_DIR "/stopping_trainer", "--checkpoint_dir=" + folder.file("checkpoints")},
            jobs) {}

  void set_disk(const std::string& rules) const { write_file(folder.file("rules"), rules); }
  // All tasks but the chief have the flags `of_others`.
  void start(const Flags& of_chief, const Flags& of_others) {
    for (const auto& [job, count] : jobs)
      for (int task = 0; task < count; ++task)
        tasks.start(job, task, job == chief_job && task == 0 ? of_chief : of_others);
  }
  void start(const Flags& flags) { start(flags, flags); }
  Process& chief() { return tasks.process(chief_job, 0); }
  void expect_print(const std::string& text) {
    BOOST_REQUIRE_MESSAGE(chief().prints(text), chief().output());
  }
  // kill -9, and another chief in its place.
  void replace_chief(const Flags& flags) {
    chief().send_signal(SIGKILL);
    chief().wait();
    tasks.start(chief_job, 0, flags);
  }
  // The hash of what was learned, and the last step, when all tasks have ended well.
  std::string result() {
    tasks.expect_all_end(0);
    return last_line_with("weights ", chief()) + last_line_with("ended at step ", chief());
  }

  Folder folder;
  Jobs jobs;
  std::string chief_job;
  TfConfigCluster tasks;
};

const std::string& undisturbed(const Jobs& jobs, const Flags& flags) {
  static std::map<std::pair<Jobs, Flags>, std::string> results;
  std::string& result = results[{jobs, flags}];
  if (result.empty()) {
    StoppedCluster cluster(jobs);
    cluster.start(flags);
    result = cluster.result();
  }
  return result;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

// The new chief begins with the checkpoint before, and what callbacks had seen then.
BOOST_AUTO_TEST_CASE(a_save_that_fails_with_the_state_of_callbacks_changes_nothing) {
  for (const Jobs& jobs : {with_ps, ranks}) {
    const std::string& expected = undisturbed(jobs, patient);
    BOOST_TEST(has(expected, "ended at step 800\n"), expected);
    StoppedCluster cluster(jobs);
    cluster.start(patient);
    cluster.expect_print("epoch 20/");
    cluster.set_disk(state_fails);
    cluster.expect_print("was not saved, training goes on");
    cluster.expect_print("epoch 60/");
    cluster.replace_chief(patient);
    cluster.set_disk("");
    BOOST_TEST(cluster.result() == expected);
  }
}

BOOST_AUTO_TEST_CASE(a_chief_that_is_killed_while_its_last_save_fails_changes_nothing) {
  for (const Jobs& jobs : {with_ps, ranks}) {
    StoppedCluster cluster(jobs);
    cluster.start(patient);
    cluster.expect_print("epoch 100/");
    cluster.set_disk(state_fails);
    cluster.expect_print("the last checkpoint, of step 800, waits for the disk");
    cluster.replace_chief(patient);
    cluster.set_disk("");
    BOOST_TEST(cluster.result() == undisturbed(jobs, patient));
  }
}

// The last checkpoint is there, the mark of the end is not: only the checkpoint knows of the stop.
BOOST_AUTO_TEST_CASE(a_chief_that_is_killed_before_it_marks_the_end_trains_no_more) {
  for (const Jobs& jobs : {with_ps, ranks})
    for (const Flags& flags : {patient, own}) {
      StoppedCluster cluster(jobs);
      cluster.set_disk(mark_fails);
      cluster.start(flags);
      cluster.expect_print("marking the end of training failed, trying again");
      cluster.replace_chief(flags);
      cluster.set_disk("");
      BOOST_TEST(cluster.result() == undisturbed(jobs, flags));
      BOOST_TEST(!has(cluster.chief().output(), "/300"), cluster.chief().output());
    }
}

// Callbacks are called at the chief alone: what the others have changes nothing.
BOOST_AUTO_TEST_CASE(the_callbacks_of_the_chief_count) {
  for (const Jobs& jobs : {with_ps, ranks})
    for (const Flags& of_others : {Flags{"--patience=1", "--stop_after=2"}, Flags{}}) {
      StoppedCluster cluster(jobs);
      cluster.start(patient, of_others);
      BOOST_TEST(cluster.result() == undisturbed(jobs, patient));
    }
}

// It has learned of the best epoch from the checkpoint, and no longer waits for a better one. The first
// one would for all epochs, so that it is still there when it is killed.
BOOST_AUTO_TEST_CASE(a_chief_that_comes_back_with_less_patience_ends_sooner) {
  for (const Jobs& jobs : {with_ps, ranks}) {
    StoppedCluster cluster(jobs);
    cluster.start({"--patience=1000"});
    cluster.expect_print("epoch 80/");
    cluster.replace_chief({"--patience=20"});
    const std::string result = cluster.result();
    BOOST_TEST(first_line(result) == first_line(undisturbed(jobs, patient)));
    BOOST_TEST(!has(result, "ended at step 1500\n"), result);
  }
}

BOOST_AUTO_TEST_SUITE_END()
