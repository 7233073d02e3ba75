// Elastic jobs of real processes: tasks are killed, come back, are told to leave, and come with hosts.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "actors/checkpoint/checkpoint.h"
#include "test/apps/launch/support/launched.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(elastic_training)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string bin = ACTORFLOW_BIN_DIR "/";

std::vector<std::string> training(int steps, std::vector<std::string> more = {}) {
  std::vector<std::string> command{bin + "actorflow",    "train",        "digits",
                                   "--strategy",         "multi_worker", "--train_steps",
                                   std::to_string(steps)};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::vector<std::string> elastic(const std::string& min, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"-np", "4", "--min", min});
  return more;
}

// The step at which a world begins.
int step_of_world(const std::string& text, int world) {
  const std::string line = rest_of_line(text, "launch | world " + std::to_string(world) + ": ");
  return std::stoi(rest_of_line(line, "from step "));
}

double accuracy(const std::string& text) { return std::stod(rest_of_line(text, "test accuracy ")); }

void kill_task(Launched& job, int task, int signal = SIGKILL) {
  kill(job.task_with("ACTORFLOW_ELASTIC_TASK=" + std::to_string(task)), signal);
}

// So many steps that the job does not end before what a test does to it, and that it does not end at
// all.
constexpr int steps = 3000, endless = 1'000'000;

void end(Launched& job) {
  job.process().send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

}  // namespace

// The others may have gone on without it for a world, or it may have been there as soon as they.
BOOST_AUTO_TEST_CASE(a_killed_task_comes_back_and_nothing_is_unlearnt) {
  Launched job(elastic("2", {"--restarts", "1"}), training(steps));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill_task(job, 1);
  BOOST_REQUIRE(job.process().prints("worker 1 has come\n"));
  BOOST_TEST(job.wait() == 0);
  const std::string text = job.output();
  BOOST_TEST(step_of_world(text, 2) > 0);
  expect(text, "4 tasks train on from step ");
  expect(text, "worker 1 was lost");
  BOOST_TEST(text.find("restored") == std::string::npos);
  BOOST_TEST(accuracy(text) > 0.9);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(the_first_task_may_be_lost_too) {
  Launched job(elastic("2"), training(steps));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill_task(job, 0);
  BOOST_REQUIRE(job.process().prints("world 2: 3 of 4 tasks train on from step "));
  BOOST_TEST(job.wait() == 0);
  const std::string text = job.output();
  expect(text, "worker 0 on localhost was killed by signal 9 (Killed); the others go on");
  BOOST_TEST(step_of_world(text, 2) > 0);
  BOOST_TEST(accuracy(text) > 0.9);
}

BOOST_AUTO_TEST_CASE(a_program_with_fit_goes_on_too_without_its_first_task_and_with_it_again) {
  Launched job(elastic("2", {"--restarts", "1"}), {bin + "iris", "--epochs", "300"});
  BOOST_REQUIRE(job.process().prints("worker 0 | epoch 2/300"));
  kill_task(job, 0);
  BOOST_REQUIRE(job.process().prints("train on from step "));
  BOOST_TEST(job.wait() == 0);
  const std::string text = job.output();
  BOOST_TEST(step_of_world(text, 2) > 0);
  BOOST_TEST(std::stod(text.substr(text.find(" % of 150 flowers are right") - 4)) > 95);
}

BOOST_AUTO_TEST_CASE(two_tasks_may_be_lost_at_once) {
  Launched job(elastic("2"), training(endless));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  const int first = job.task_with("ACTORFLOW_ELASTIC_TASK=1");
  const int second = job.task_with("ACTORFLOW_ELASTIC_TASK=3");
  kill(first, SIGKILL);
  kill(second, SIGKILL);
  BOOST_REQUIRE(job.process().prints(": 2 of "));
  end(job);
}

BOOST_AUTO_TEST_CASE(below_the_minimum_the_job_ends_with_the_status_of_the_lost_task) {
  Launched job(elastic("4"), training(endless));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill_task(job, 2);
  BOOST_TEST(job.wait() == 137);
  BOOST_TEST(job.last_line() ==
             "launch | worker 2 was lost; 3 of at least 4 tasks are there, and no more will come");
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(members_change_no_oftener_than_the_limit) {
  Launched job(elastic("1", {"--reset_limit", "1"}), training(endless));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill_task(job, 2);
  BOOST_REQUIRE(job.process().prints("world 2: 3 of 4"));
  kill_task(job, 1);
  BOOST_TEST(job.wait() == 137);
  expect(job.last_line(), "the members have changed 1 times, which is --reset_limit");
}

BOOST_AUTO_TEST_CASE(a_task_that_is_told_to_leave_saves_and_leaves_and_the_others_go_on) {
  const Folder folder;
  Launched job(elastic("2"), training(endless, {"--checkpoint_dir", folder.file("run")}));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill_task(job, 0, SIGTERM);
  BOOST_REQUIRE(job.process().prints("world 2: 3 of 4 tasks train on from step "));
  const int step = step_of_world(job.output(), 2);
  expect(job.output(), "; worker 0 has left");
  const std::string saved = folder.file("run/step-" + std::to_string(step) + ".");
  BOOST_TEST(std::ranges::any_of(list_checkpoints(posix_storage(), folder.file("run")),
                                 [&](const auto& path) { return path.starts_with(saved); }));
  end(job);
}

BOOST_AUTO_TEST_CASE(tasks_come_and_leave_with_the_hosts_that_a_script_prints) {
  const Folder folder;
  const std::string hosts = folder.file("hosts"), script = folder.file("discover");
  const auto print = [&](const std::string& line) {
    std::ofstream(hosts + ".new") << line << '\n';
    std::filesystem::rename(hosts + ".new", hosts);
  };
  print("localhost:2");
  std::ofstream(script) << "#!/bin/sh\ncat " << hosts << '\n';
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Launched job({"-np", "2", "--min", "1", "--max", "4", "--host_discovery", script}, training(endless));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  print("localhost:4");
  BOOST_REQUIRE(job.process().prints("worker 3 | step"));
  expect(job.output(), "launch | worker 3 starts on localhost");
  print("nonsense nonsense");
  BOOST_REQUIRE(job.process().prints("; the hosts stay as they are"));
  print("localhost:1");
  BOOST_REQUIRE(job.process().prints("worker 1 has no slot on localhost any more, so it leaves"));
  BOOST_REQUIRE(job.process().prints(": 1 of "));
  end(job);
}

BOOST_AUTO_TEST_CASE(
    all_slots_of_the_first_hosts_are_used_and_a_job_whose_tasks_are_all_lost_waits_and_fails) {
  const Folder folder;
  const std::string script = folder.file("discover");
  std::ofstream(script) << "#!/bin/sh\necho localhost:4\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Launched job({"-np", "2", "--max", "3", "--elastic_timeout", "2", "--host_discovery", script},
               training(endless));
  BOOST_REQUIRE(job.process().prints("worker 2 | step"));
  std::vector<int> tasks;
  for (const char* number : {"0", "1", "2"})
    tasks.push_back(job.task_with(std::string("ACTORFLOW_ELASTIC_TASK=") + number));
  for (const int task : tasks) kill(task, SIGKILL);
  BOOST_TEST(job.wait() == 137);
  expect(job.last_line(), "0 of at least 1 tasks are there after 2 s");
  job.expect_nothing_left();
}

// Both are this machine, by two names, with a keeper each.
BOOST_AUTO_TEST_CASE(the_tasks_of_a_lost_host_are_left_behind) {
  const std::string name = name_of_this_machine();
  const std::string hosts = "localhost:2," + name + ":2";
  Launched job(elastic("2", {"-H", hosts}), training(endless));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill(parent_of(job.task_with("ACTORFLOW_ELASTIC_TASK=3")), SIGKILL);
  BOOST_REQUIRE(job.process().prints("2 of 4 tasks train on from step "));
  expect(job.output(), "launch | " + name + " is lost: ");
  expect(job.output(), "worker 2, worker 3 were lost");
  end(job);
}

BOOST_AUTO_TEST_CASE(a_stopped_task_is_ended_so_that_the_others_go_on) {
  Launched job(elastic("2"), training(endless, {"--heartbeat_timeout", "1"}));
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill_task(job, 3, SIGSTOP);
  BOOST_REQUIRE(job.process().prints("worker 3 has been silent for 10 s, so it is ended"));
  BOOST_REQUIRE(job.process().prints("3 of 4 tasks train on"));
  end(job);
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_change_its_tasks_says_so) {
  Launched job(elastic("2"), {bin + "word_count", "--input", "x", "--output", "y"});
  BOOST_TEST(job.wait() != 0);
  expect(job.output(), "cannot change the number of its tasks while it runs");
}

BOOST_AUTO_TEST_CASE(flags_that_contradict_each_other_are_refused) {
  const auto refused = [](std::vector<std::string> flags, const std::string& words) {
    Process process(launch_command(std::move(flags)));
    BOOST_TEST(process.wait() == 2);
    expect(process.output(), words);
  };
  refused({"-np", "2", "--min", "3", "true"}, "expected --min <= -np <= --max, got 3, 2 and 2");
  refused({"-np", "2", "--min", "1", "--ps", "1", "true"}, "has workers only");
  refused({"-np", "2", "--host_discovery", "/x", "-H", "a:2", "true"}, "omit -H and --hostfile");
  refused({"-np", "2", "--host_discovery", "/x", "--num_gpus", "2", "true"}, "omit --num_gpus");
  refused({"-np", "2", "--min", "1", "--blacklist_cooldown_range", "30,600", "true"},
          "give --host_discovery");
  const std::string range = "expected the first and the longest pause in seconds, as in 30,600, got ";
  for (const char* wrong : {"30", "600,30", "1,2,3"})
    refused({"-np", "2", "--host_discovery", "/x", "--blacklist_cooldown_range", wrong, "true"},
            range + wrong);
}

BOOST_AUTO_TEST_SUITE_END()
