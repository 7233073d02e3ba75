// Jobs whose tasks talk by mutual TLS, with a real sshd on loopback.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "actors/actorflow.h"
#include "test/apps/launch/support/launched.h"
#include "test/apps/launch/support/ssh_server.h"
#include "test/support/hang_limit.h"

BOOST_AUTO_TEST_SUITE(launch_tls, *boost::unit_test::precondition(actorflow::test::has_ssh_server))

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;

const std::string program = ACTORFLOW_BIN_DIR "/actorflow";
const Words endless_training{program,        "train",         "digits", "--strategy",
                             "multi_worker", "--train_steps", "1000000"};

// Says where a task's credentials are, and how.
Words listing(const std::string& then) {
  return {"/bin/sh", "-c",
          "echo folder $ACTORFLOW_CREDENTIALS; stat -c '%a %n' $ACTORFLOW_CREDENTIALS "
          "$ACTORFLOW_CREDENTIALS/*; " +
              then};
}

struct Machines {
  SshServer server;

  Words flags(Words more) const {
    more.insert(more.begin(),
                {"--ssh_config", server.client_config(), "-H", "127.0.0.2:1,127.0.0.3:1", "-np", "2"});
    return more;
  }
};

std::string credentials_of(const std::string& output, const std::string& task) {
  return rest_of_line(output, task + " | folder ");
}

void expect_gone(const std::string& folder) {
  BOOST_TEST(!folder.empty());
  const auto end = std::chrono::steady_clock::now() + hang_limit;
  while (std::filesystem::exists(folder) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  BOOST_TEST(!std::filesystem::exists(folder), folder + " is still there");
}

// What a client with these credentials, or "" for none, computes at a task: 5.
float sum_at(const std::string& target, const std::string& credentials) {
  Graph graph;
  const Output sum = graph.constant(2.0f) + graph.constant(3.0f);
  return Session(target, graph, {.credentials = credentials}).run(sum).scalar<float>();
}

// `rest` begins with the port.
std::string target_of(const std::string& host, const std::string& rest) {
  return "actorflow://" + host + ":" + std::to_string(std::stoi(rest));
}

void expect_refused(const Words& flags, const Words& command, const std::string& words) {
  Launched job(flags, command);
  BOOST_TEST(job.wait() == 2);
  expect(job.output(), words);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(each_host_has_its_tasks_credentials_for_itself_until_the_job_ends, Machines) {
  Launched job(flags({"--secure"}), listing("true"));
  BOOST_TEST(job.wait() == 0);
  const std::string output = job.output();
  for (const char* number : {"0", "1"}) {
    const std::string task = std::string("worker ") + number;
    const std::string folder = credentials_of(output, task);
    expect(output, task + " | 700 " + folder + "\n");
    for (const std::string file : {"/ca.crt", "/worker-N.crt", "/worker-N.key"}) {
      std::string name = file;
      if (const auto at = name.find('N'); at != name.npos) name[at] = *number;
      expect(output, task + " | 600 " + folder + name + "\n");
    }
    expect_gone(folder);
  }
  BOOST_TEST(output.find("ca.key") == std::string::npos);
  BOOST_TEST(output.find("worker 0 | 600 " + credentials_of(output, "worker 0") + "/worker-1") ==
             std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(they_are_gone_too_after_a_failure_and_when_the_launcher_is_killed, Machines) {
  Launched failing(flags({"--secure"}), listing("test $RANK = 0 || exit 7; sleep 1000"));
  BOOST_TEST(failing.wait() == 7);
  expect_gone(credentials_of(failing.output(), "worker 1"));
  Launched killed(flags({"--secure"}), listing("echo began; sleep 1000"));
  for (const char* line : {"worker 0 | began", "worker 1 | began"})
    BOOST_REQUIRE(killed.process().prints(line));
  killed.process().send_signal(SIGKILL);
  for (const char* task : {"worker 0", "worker 1"}) expect_gone(credentials_of(killed.output(), task));
  killed.expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(training_talks_to_holders_of_the_folder_only, Machines) {
  const Folder folder;
  Launched job(flags({"--tls", folder.file("keys")}), endless_training);
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  const std::string target =
      target_of("127.0.0.2", rest_of_line(job.output(), "127.0.0.2: worker 0 (port "));
  BOOST_CHECK_THROW(sum_at(target, ""), Error);
  BOOST_TEST(job.process().prints("worker 0 | step"));
  BOOST_TEST(sum_at(target, folder.file("keys")) == 5);
  job.process().send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  expect(job.output(), "closed the connection from an unknown peer at 127.0.0.1:");
  BOOST_TEST(std::filesystem::exists(folder.file("keys/ca.key")));
  job.expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(training_with_parameter_servers_ends_well, Machines) {
  Launched job(flags({"--secure", "--ps", "2"}), {program, "train", "digits", "--epochs", "2"});
  BOOST_TEST(job.wait() == 0, job.output());
  expect(job.output(), "worker 0 | test accuracy");
}

BOOST_AUTO_TEST_CASE(the_tasks_of_an_elastic_job_have_names_in_every_world) {
  Launched job({"-np", "3", "--min", "1", "--secure"}, endless_training);
  BOOST_REQUIRE(job.process().prints("worker 0 | step"));
  kill(job.task_with("ACTORFLOW_ELASTIC_TASK=0"), SIGKILL);
  BOOST_REQUIRE(job.process().prints("world 2: 2 of 3 tasks train on from step "));
  BOOST_REQUIRE(job.process().prints("worker 1 | step"));
  job.process().send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(programs_without_flags_of_their_own_take_them_from_the_environment) {
  const Folder folder;
  Launched job({"-np", "2", "--tls", folder.file("keys")},
               {ACTORFLOW_BIN_DIR "/iris", "--epochs", "1000000"});
  BOOST_REQUIRE(job.process().prints("worker 0 | epoch 2/"));
  const std::string target =
      target_of("127.0.0.1", rest_of_line(job.output(), "localhost: worker 0 (port "));
  BOOST_CHECK_THROW(sum_at(target, ""), Error);
  BOOST_TEST(sum_at(target, folder.file("keys")) == 5);
  job.process().send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
}

BOOST_AUTO_TEST_CASE(flags_that_contradict_each_other_are_refused) {
  const Folder folder;
  const Words two{"-np", "2", "--secure"};
  expect_refused({"-np", "2", "--tls", ""}, {"true"}, "expected a folder");
  expect_refused({"-np", "2", "--secure", "--tls", folder.file("keys")}, {"true"}, "omit it, or --tls");
  expect_refused(two, {"trainer", "--insecure"}, "omit --insecure of the program");
  expect_refused(two, {"trainer", "--credentials=keys"}, "omit --credentials=keys of the program");
  expect_refused({"-np", "2", "--secure", "--env", "ACTORFLOW_CREDENTIALS=keys"}, {"true"},
                 "--secure sets ACTORFLOW_CREDENTIALS; omit it in --env");
  expect_refused({"-np", "2", "--secure", "--to", "slurm"}, {"true"}, "with --to say --tls FOLDER");
  std::filesystem::create_directory(folder.file("open"));
  std::filesystem::permissions(folder.file("open"), std::filesystem::perms::all);
  expect_refused({"-np", "2", "--tls", folder.file("open")}, {"true"}, "others may write to");
}

BOOST_AUTO_TEST_SUITE_END()
