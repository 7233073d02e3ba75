// Our programs and foreign ones as the tasks of a launched job.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "test/apps/launch/support/launched.h"

BOOST_AUTO_TEST_SUITE(launch_training)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string bin = ACTORFLOW_BIN_DIR "/";

std::vector<std::string> training(const Folder& folder) {
  return {bin + "actorflow",
          "train",
          "digits",
          "--train_steps",
          "500",
          "--checkpoint_dir",
          folder.file("run"),
          "--save_checkpoint_steps",
          "100"};
}

}  // namespace

BOOST_AUTO_TEST_CASE(workers_alone_and_with_parameter_servers_learn_the_same) {
  Launched alone({"-np", "4"}, {bin + "actorflow", "train", "digits", "--strategy", "multi_worker"});
  BOOST_TEST(alone.wait() == 0);
  Launched served({"-np", "4", "--ps", "2"}, {bin + "actorflow", "train", "digits"});
  BOOST_TEST(served.wait() == 0);
  BOOST_TEST(rest_of_line(alone.output(), "; weights ") == rest_of_line(served.output(), "; weights "));
}

BOOST_AUTO_TEST_CASE(killed_tasks_are_started_again_and_change_no_weight) {
  const Folder undisturbed_folder, folder;
  Launched undisturbed({"-np", "3", "--ps", "2"}, training(undisturbed_folder));
  BOOST_TEST(undisturbed.wait() == 0);
  Launched job({"-np", "3", "--ps", "2", "--restarts", "2"}, training(folder));
  BOOST_REQUIRE(job.process().prints("worker 1 | step"));
  kill(job.task_with("RANK=1"), SIGKILL);
  BOOST_REQUIRE(job.process().prints("starting it again, 1 of 2 restarts is left"));
  BOOST_TEST(job.wait() == 0);
  BOOST_TEST(rest_of_line(job.output(), "; weights ") ==
             rest_of_line(undisturbed.output(), "; weights "));
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_task_that_is_killed_while_it_trains_ends_the_job_without_a_budget) {
  const Folder folder;
  Launched job({"-np", "2"}, {bin + "actorflow", "train", "digits", "--strategy", "multi_worker",
                              "--train_steps", "1000000"});
  BOOST_REQUIRE(job.process().prints("worker 1 | step"));
  kill(job.task_with("RANK=1"), SIGKILL);
  BOOST_TEST(job.wait() == 137);
  BOOST_TEST(job.last_line() == "launch | worker 1 on localhost was killed by signal 9 (Killed)");
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(hybrid_has_its_own_parameter_server) {
  Launched job({"--hybrid", "--num_gpus", "0"}, {bin + "actorflow", "train", "digits", "--epochs", "2"});
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "launch | localhost: ps 0 (port ");
  expect(job.output(), "worker 0 | test accuracy");
}

BOOST_AUTO_TEST_CASE(an_evaluator_tests_the_last_checkpoint) {
  const Folder folder;
  Launched job({"-np", "2", "--ps", "1", "--evaluator"}, training(folder));
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "evaluator 0 | step 500: test accuracy");
}

BOOST_AUTO_TEST_CASE(a_map_reduce_job_runs_on_all_workers) {
  const Folder folder;
  Launched job({"-np", "3"},
               {bin + "word_count", "--input", ACTORFLOW_SOURCE_DIR "/apps/data/shakespeare", "--output",
                folder.file("counts")});
  BOOST_TEST(job.wait() == 0);
  BOOST_TEST(std::filesystem::exists(folder.file("counts/_SUCCESS")));
}

BOOST_AUTO_TEST_CASE(a_foreign_program_meets_at_the_master_s_port) {
  Launched job({"-np", "3"}, {"/usr/bin/env", "python3", "-c", R"(
import os, socket, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
master = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    server = socket.create_server(master)
    print("sum", sum(int(server.accept()[0].makefile().readline()) for _ in range(size - 1)))
while rank:
    try:
        socket.create_connection(master).sendall(b"%d\n" % rank)
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
)"});
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "worker 0 | sum 3\n");
}

BOOST_AUTO_TEST_SUITE_END()
