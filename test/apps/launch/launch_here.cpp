// Jobs on this machine.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <map>
#include <set>

#include "apps/launch/keeper/held_ports.h"
#include "test/apps/launch/support/hostile_texts.h"
#include "test/apps/launch/support/launched.h"
#include "test/apps/launch/support/listener.h"

BOOST_AUTO_TEST_SUITE(launch_here)

using namespace actorflow;
using namespace actorflow::test;

namespace {

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tasks_have_numbers_and_prefixed_lines) {
  Launched job({"-np", "2", "--ps", "1"},
               shell("echo ${RANK-none} of ${WORLD_SIZE-none}; echo error >&2; printf 'last ü'"));
  BOOST_TEST(job.wait() == 0);
  for (const char* line : {"worker 0 | 0 of 2\n", "worker 1 | 1 of 2\n", "ps 0 | none of none\n",
                           "worker 1 | error\n", "worker 0 | last ü\n", "ps 0 | last ü\n"})
    expect(job.output(), line);
  BOOST_TEST(job.last_line() == "launch | every task has ended well");
}

// As inside of an allocation, or of a rank of another launcher.
BOOST_AUTO_TEST_CASE(the_numbers_of_an_outer_launcher_are_not_those_of_a_task) {
  Process job({"/usr/bin/env", "RANK=7", "WORLD_SIZE=9", "OMPI_COMM_WORLD_RANK=7",
               "OMPI_COMM_WORLD_SIZE=9", "PMI_RANK=7", "PMI_SIZE=9", "SLURM_PROCID=7",
               "SLURM_STEP_NUM_TASKS=9", ACTORFLOW_BIN_DIR "/actorflow", "launch", "-np", "2", "--env",
               "PMI_SIZE=5", "/bin/sh", "-c",
               "echo ours $RANK $WORLD_SIZE, theirs $OMPI_COMM_WORLD_RANK$OMPI_COMM_WORLD_SIZE$PMI_RANK"
               "$SLURM_PROCID$SLURM_STEP_NUM_TASKS, of --env $PMI_SIZE"});
  BOOST_TEST(job.wait() == 0);
  for (const char* line :
       {"worker 0 | ours 0 2, theirs , of --env 5\n", "worker 1 | ours 1 2, theirs , of --env 5\n"})
    expect(job.output(), line);
}

BOOST_AUTO_TEST_CASE(the_first_failure_ends_the_others_and_is_the_last_line) {
  Launched job({"-np", "3"}, shell("test $RANK = 1 || exec sleep 1000; exit 7"));
  BOOST_TEST(job.wait() == 7);
  BOOST_TEST(job.last_line() == "launch | worker 1 on localhost ended with status 7");
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_task_that_is_killed_gives_128_and_its_signal) {
  Launched job({"-np", "2"}, sleeping_family);
  job.expect_processes(6);
  kill(job.task_with("RANK=1"), SIGKILL);
  BOOST_TEST(job.wait() == 137);
  BOOST_TEST(job.last_line() == "launch | worker 1 on localhost was killed by signal 9 (Killed)");
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(whose_end_a_job_waits_for_is_said) {
  const Folder folder;
  const std::string ready = folder.file("ready-");
  Launched job({"-np", "3"},
               {"/bin/bash", "-c",
                "trap '' TERM; touch " + ready + "$RANK; until [ -e " + ready + "0 -a -e " + ready +
                    "2 ]; do sleep 0.01; done; test $RANK = 1 && exit 3; sleep 1000; sleep 1000"});
  BOOST_REQUIRE(job.process().prints("launch | waiting for worker 0, worker 2 to end\n"));
  BOOST_TEST(job.wait() == 3);
  BOOST_TEST(job.last_line() == "launch | worker 1 on localhost ended with status 3");
}

BOOST_AUTO_TEST_CASE(a_task_that_does_not_obey_is_killed) {
  Launched job({"-np", "2"},
               {"/bin/bash", "-c", "test $RANK = 1 && exit 3; trap '' TERM; sleep 1000; sleep 1000"});
  BOOST_TEST(job.wait() == 3);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_launcher_that_is_killed) {
  Launched job({"-np", "2"}, sleeping_family);
  job.expect_processes(6);
  job.process().send_signal(SIGKILL);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_all) {
  Launched job({"-np", "2"}, sleeping_family);
  job.expect_processes(6);
  job.process().send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  BOOST_TEST(job.last_line() == "launch | ended by signal 2 (Interrupt)");
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_job_of_nohup_outlives_its_terminal) {
  const Folder folder;
  Process job({"/usr/bin/nohup", ACTORFLOW_BIN_DIR "/actorflow", "launch", "-np", "1", "/bin/sh", "-c",
               "echo began; while [ ! -e " + folder.file("end") + " ]; do sleep 0.01; done; echo done"});
  BOOST_REQUIRE(job.prints("worker 0 | began"));
  job.send_signal(SIGHUP);
  write_file(folder.file("end"), "");
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "worker 0 | done");
}

BOOST_AUTO_TEST_CASE(stop_ends_a_job_by_its_number) {
  Launched job({"-np", "2"}, sleeping_family);
  job.expect_processes(6);
  const std::string number = std::to_string(job.process().id());
  Process list({"actorflow", "stop"});
  BOOST_TEST(list.wait() == 0);
  expect("\n" + list.output(), "\n" + number + "\n");
  Process stop({"actorflow", "stop", number});
  BOOST_TEST(stop.wait() == 0);
  job.expect_nothing_left();
  BOOST_TEST(job.wait() == 143);
  BOOST_TEST(job.last_line() == "launch | ended by actorflow stop");
  Process again({"actorflow", "stop", number});
  BOOST_TEST(again.wait() == 1);
  expect(again.output(), "no job '" + number + "' runs here");
}

BOOST_AUTO_TEST_CASE(only_the_dead_task_is_started_again_with_its_identity) {
  Launched job({"-np", "2", "--restarts", "1"},
               shell("echo rank $RANK, restart $ACTORFLOW_RESTART_COUNT, $TF_CONFIG; "
                     "test $RANK$ACTORFLOW_RESTART_COUNT = 10 && kill -9 $$; exit 0"));
  BOOST_TEST(job.wait() == 0);
  const std::string output = job.output();
  expect(output, "worker 1 on localhost was killed by signal 9 (Killed); starting it again, 0 of 1 ");
  BOOST_TEST(count_of(output, "rank 0, restart 0") == 1u);
  BOOST_TEST(count_of(output, "rank 1, restart 0") == 1u);
  BOOST_TEST(count_of(output, "rank 1, restart 1") == 1u);
  const auto config_after = [&output](const std::string& text) {
    const auto begin = output.find("{", output.find(text));
    return output.substr(begin, output.find('\n', begin) - begin);
  };
  BOOST_TEST(config_after("rank 1, restart 0") == config_after("rank 1, restart 1"));
}

BOOST_AUTO_TEST_CASE(a_task_that_dies_before_it_does_anything_is_not_started_again) {
  Launched job({"-np", "1", "--restarts", "5"}, shell("exit 4"));
  BOOST_TEST(job.wait() == 4);
  BOOST_TEST(job.last_line() ==
             "launch | worker 0 on localhost ended with status 4; that was before its first step, so it "
             "is not started again");
}

BOOST_AUTO_TEST_CASE(a_program_that_reports_its_steps_is_started_again_after_the_first_only) {
  Launched early({"-np", "1", "--restarts", "5"}, shell("printf w >&3; echo a line; sleep 0.1; exit 4"));
  BOOST_TEST(early.wait() == 4);
  BOOST_TEST(count_of(early.output(), "a line") == 1u);
  Launched late({"-np", "1", "--restarts", "2"}, shell("printf ws >&3; echo a line; exit 4"));
  BOOST_TEST(late.wait() == 4);
  BOOST_TEST(count_of(late.output(), "a line") == 3u);
}

BOOST_AUTO_TEST_CASE(parameter_servers_that_serve_for_ever_end_with_the_workers) {
  Launched job({"-np", "1", "--ps", "1"},
               shell("case $TF_CONFIG in *'\"type\": \"ps\"'*) exec sleep 1000;; esac; echo done"));
  BOOST_TEST(job.wait() == 0);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(how_parameter_servers_end_after_the_workers_says_nothing) {
  Launched job(
      {"-np", "1", "--ps", "1"},
      shell("case $TF_CONFIG in *'\"type\": \"ps\"'*) trap 'exit 5' TERM; sleep 1000 & wait;; esac"));
  BOOST_TEST(job.wait() == 0);
  BOOST_TEST(job.last_line() == "launch | every task has ended well");
}

BOOST_AUTO_TEST_CASE(logs_have_every_byte_of_a_task) {
  Folder folder;
  Launched job({"-np", "2", "--log_dir", folder.file("logs")},
               shell("i=0; while [ $i -lt 20000 ]; do echo \"$RANK: $i\"; i=$((i+1)); done; printf 'ü'; "
                     "test $RANK = 0 || kill -9 $$"));
  BOOST_TEST(job.wait() == 137);
  std::string expected;
  for (int i = 0; i < 20'000; ++i) expected += "1: " + std::to_string(i) + "\n";
  BOOST_TEST((read_file(folder.file("logs/worker-1.log")) == expected + "ü"));
}

BOOST_AUTO_TEST_CASE(logs_of_earlier_launches_are_kept_under_numbers) {
  const Folder folder;
  for (const char* word : {"one", "two", "three"}) {
    Launched job({"-np", "2", "--log_dir", folder.path()}, shell(std::string("echo ") + word));
    BOOST_TEST(job.wait() == 0);
    BOOST_TEST(count_of(job.output(), "earlier logs in " + folder.path() + " are kept") ==
               (word == std::string("one") ? 0u : 1u));
  }
  for (const char* task : {"worker-0.log", "worker-1.log"}) {
    BOOST_TEST(read_file(folder.file(task)) == "three\n");
    BOOST_TEST(read_file(folder.file(task) + ".1") == "one\n");
    BOOST_TEST(read_file(folder.file(task) + ".2") == "two\n");
  }
}

// The console has every line, and the job ends as well as without the log.
BOOST_AUTO_TEST_CASE(a_log_on_a_full_disk_is_named_once) {
  const Folder folder;
  const std::string log = folder.file("worker-0.log");
  std::filesystem::create_symlink("/dev/full", log);
  Launched job({"-np", "1", "--log_dir", folder.path()}, shell("echo one; echo two; printf three"));
  BOOST_TEST(job.wait() == 0);
  for (const char* line : {"one", "two", "three"})
    expect(job.output(), std::string("worker 0 | ") + line + "\n");
  const std::string said = "launch | the log '" + log + "' lacks what comes from now on: No space left";
  BOOST_TEST(count_of(job.output(), said) == 1u, job.output());
}

BOOST_AUTO_TEST_CASE(a_log_whose_last_lines_the_disk_refuses_is_named) {
  const Folder folder;
  const std::string rules = folder.file("rules"), log = folder.file("worker-0.log");
  write_file(rules, "fclose /worker-0.log 28");  // ENOSPC
  Process launch({"/usr/bin/env", "LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + rules,
                  ACTORFLOW_BIN_DIR "/actorflow", "launch", "-np", "2", "--log_dir", folder.path(),
                  "echo", "hello"});
  BOOST_TEST(launch.wait() == 0);
  const std::string said = "launch | the log '" + log + "' may lack its last lines: No space left";
  BOOST_TEST(count_of(launch.output(), said) == 1u, launch.output());
  BOOST_TEST(count_of(launch.output(), "may lack its last lines") == 1u, launch.output());
}

BOOST_AUTO_TEST_CASE(lines_of_tasks_are_never_mixed) {
  Launched job({"-np", "4"}, shell("i=0; while [ $i -lt 2000 ]; do printf '%s-%s-' $RANK $RANK; "
                                   "printf '%s\\n' $RANK; i=$((i+1)); done"));
  BOOST_TEST(job.wait() == 0);
  for (const char* rank : {"0", "1", "2", "3"}) {
    const std::string r = rank;
    BOOST_TEST(count_of(job.output(), "worker " + r + " | " + r + "-" + r + "-" + r + "\n") == 2000u);
  }
}

BOOST_AUTO_TEST_CASE(mistakes_are_found_before_anything_starts) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"-np", "1", "/nowhere/program"}, "localhost: the program '/nowhere/program' is not there"},
      {{"-np", "1", "no-such-program"}, "the program 'no-such-program' is in no folder of PATH"},
      {{"-np", "1", "/etc/passwd"}, "'/etc/passwd' is there, but is no program"},
      {{"-np", "1", "--work_dir", "/nowhere", "true"},
       "the working folder '/nowhere' cannot be entered"},
      {{"-np", "1", "--data_dir", "/nowhere", "true"}, "--data_dir '/nowhere' is no folder there"}};
  for (const auto& [arguments, mistake] : mistakes) {
    Process launch(launch_command(arguments));
    BOOST_TEST(launch.wait() == 1);
    expect(launch.output(), mistake);
  }
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_explained) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"true"}, "expected -np N"},
      {{"-np", "2"}, "expected the program to launch"},
      {{"-np", "4", "-H", "a:1,b:2", "true"},
       "Requested more processes (4) than there are available slots (3)"},
      {{"-np", "1", "-H", "", "true"}, "-H: expected host"},
      {{"-np", "2", "--bogus", "true"}, "launch has no option --bogus"},
      {{"-np", "2", "-H", "a,a", "true"}, "the host 'a' is there twice"},
      {{"-np", "2", "-H", "localhost,b", "true"}, "'localhost' is among other hosts"},
      {{"-np", "1", "--env", "NO_SUCH_VARIABLE", "true"}, "there is no such variable here"},
      {{"--hybrid", "--ps", "1", "true"}, "--hybrid has a ps on each host"}};
  for (const auto& [arguments, mistake] : mistakes) {
    Process launch(launch_command(arguments));
    BOOST_TEST(launch.wait() == 2);
    expect(launch.output(), mistake);
  }
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_is_named) {
  const Listener listener;
  const std::string port = std::to_string(listener.port());
  Process launch(launch_command({"-np", "1", "--port", port, "true"}));
  BOOST_TEST(launch.wait() == 1);
  expect(launch.output(), "localhost: port " + port + " is taken; give another --port, or none");
}

BOOST_AUTO_TEST_CASE(the_arguments_of_the_program_are_its_own) {
  Launched job({"-np", "1"}, {"/bin/echo", "-np", "4", "--help", "--", "launch"});
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "worker 0 | -np 4 --help -- launch\n");
}

BOOST_AUTO_TEST_CASE(two_dashes_may_stand_before_the_program) {
  Process launch(launch_command({"-np", "1", "--", "/bin/echo", "--word"}));
  BOOST_TEST(launch.wait() == 0);
  expect(launch.output(), "worker 0 | --word\n");
}

BOOST_AUTO_TEST_CASE(closed_standard_streams_do_not_hang_a_job) {
  const Folder folder;
  Process launch({"/bin/sh", "-c", "exec \"$0\" launch -np 1 --log_dir \"$1\" echo hello <&- >&- 2>&-",
                  ACTORFLOW_BIN_DIR "/actorflow", folder.file("logs")});
  BOOST_TEST(launch.wait() == 0);
  BOOST_TEST(read_file(folder.file("logs/worker-0.log")) == "hello\n");
}

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_ends_a_job_with_the_reason) {
  Process full(
      {"/bin/sh", "-c", "exec \"$0\" launch -np 1 yes >/dev/full", ACTORFLOW_BIN_DIR "/actorflow"});
  BOOST_TEST(full.wait() == 1);
  expect(full.output(), "the output cannot be written, so the job has been ended: No space left");
  Process gone({"/bin/bash", "-c",
                "\"$0\" launch -np 1 sh -c 'yes >&2' 2>&1 | head -1; exit ${PIPESTATUS[0]}",
                ACTORFLOW_BIN_DIR "/actorflow"});
  BOOST_TEST(gone.wait() == 141);
}

BOOST_AUTO_TEST_CASE(a_parent_that_ignores_its_children_does_not_hang_a_job) {
  struct sigaction before {
  }, ignoring{};
  ignoring.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignoring, &before);
  Launched job({"-np", "1"}, {"/bin/true"});
  sigaction(SIGCHLD, &before, nullptr);
  BOOST_TEST(job.wait() == 0);
}

BOOST_AUTO_TEST_CASE(hostile_arguments_and_variables_arrive_byte_equal) {
  expect_hostile_texts_arrive({"-np", "1"});
}

// Each run takes four descriptors of the keeper's, and the last ones would find none.
BOOST_AUTO_TEST_CASE(three_hundred_restarts_leave_no_descriptor) {
  Process job({"/bin/sh", "-c",
               "ulimit -n 256; exec \"$0\" launch -np 1 --restarts 300 sh -c 'echo a line; exit 4'",
               ACTORFLOW_BIN_DIR "/actorflow"});
  BOOST_TEST(job.wait() == 4);
  BOOST_TEST(count_of(job.output(), "worker 0 | a line") == 301u);
}

BOOST_AUTO_TEST_CASE(a_low_limit_of_descriptors_is_enough_for_two_tasks) {
  Process job({"/bin/sh", "-c", "ulimit -n 40; exec \"$0\" launch -np 2 echo hello",
               ACTORFLOW_BIN_DIR "/actorflow"});
  BOOST_TEST(job.wait() == 0);
  for (const char* line : {"worker 0 | hello\n", "worker 1 | hello\n"}) expect(job.output(), line);
}

BOOST_AUTO_TEST_CASE(the_ports_of_two_hundred_tasks_are_free_afterwards) {
  Launched job({"-np", "200"}, shell("test $RANK != 0 || echo $TF_CONFIG"));
  BOOST_TEST(job.wait() == 0);
  const std::string config = rest_of_line(job.output(), "worker 0 | ");
  const std::set<int> taken = listened_ports();
  int count = 0;
  for (auto at = config.find("127.0.0.1:"); at != config.npos; at = config.find("127.0.0.1:", at + 1)) {
    BOOST_TEST(!taken.contains(std::stoi(config.substr(at + 10))));
    ++count;
  }
  BOOST_TEST(count == 200);
}

BOOST_AUTO_TEST_CASE(two_hundred_tasks_that_do_nothing_end_cleanly) {
  Launched job({"-np", "200"}, {"/bin/true"});
  BOOST_TEST(job.wait() == 0);
  BOOST_TEST(job.last_line() == "launch | every task has ended well");
  expect(job.output(), "launch | localhost: worker 0-199\n");
  job.expect_nothing_left();
}

// As where the machines of an allocation are gone.
BOOST_AUTO_TEST_CASE(sruns_that_do_not_end_are_killed) {
  const Folder folder;
  write_file(folder.file("srun"),
             "#!/bin/sh\ntrap '' TERM\nexec <&- >&- 2>&-\nwhile :; do /bin/sleep 0.1; done\n");
  chmod(folder.file("srun").c_str(), 0755);
  const std::string mark = "no-end-" + std::to_string(getpid());
  Process job({"/usr/bin/env", "PATH=" + folder.path(), "SLURM_JOB_ID=17", "SLURM_JOB_NODELIST=a,b,c",
               "SLURM_TASKS_PER_NODE=1(x3)", "ACTORFLOW_TEST_MARK=" + mark,
               ACTORFLOW_BIN_DIR "/actorflow", "launch", "-np", "3", "/bin/true"});
  BOOST_TEST(job.wait() == 1, job.output());
  expect_marked(mark, 0);
}

BOOST_AUTO_TEST_SUITE_END()
