// Jobs by ssh, with a real sshd on loopback.
#include <sys/stat.h>
#include <boost/test/unit_test.hpp>

#include <csignal>

#include "test/apps/launch/support/hostile_texts.h"
#include "test/apps/launch/support/launched.h"
#include "test/apps/launch/support/ssh_server.h"

BOOST_AUTO_TEST_SUITE(launch_ssh, *boost::unit_test::precondition(actorflow::test::has_ssh_server))

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct Machines {
  SshServer server;

  std::vector<std::string> flags(const std::string& hosts, const std::string& np) const {
    return {"--ssh_config", server.client_config(), "-H", hosts, "-np", np};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ranks_are_those_of_the_hosts_and_addresses_are_theirs, Machines) {
  Launched job(flags("127.0.0.2:1,127.0.0.3:2", "3"),
               {"/bin/sh", "-c",
                "echo $RANK $LOCAL_RANK $CROSS_RANK $LOCAL_WORLD_SIZE $CROSS_SIZE; echo $TF_CONFIG"});
  BOOST_TEST(job.wait() == 0);
  for (const char* line :
       {"worker 0 | 0 0 0 1 2\n", "worker 1 | 1 0 1 2 2\n", "worker 2 | 2 1 0 2 1\n",
        R"("worker": ["127.0.0.2:)", R"(, "127.0.0.3:)", R"("task": {"type": "worker", "index": 2}})"})
    expect(job.output(), line);
}

BOOST_FIXTURE_TEST_CASE(hostile_arguments_and_variables_arrive_byte_equal, Machines) {
  expect_hostile_texts_arrive(flags("127.0.0.2", "1"));
}

BOOST_FIXTURE_TEST_CASE(a_failure_on_one_host_ends_all, Machines) {
  Launched job(flags("127.0.0.2,127.0.0.3", "2"), sleeping_family);
  job.expect_processes(6);
  kill(job.task_with("RANK=1"), SIGKILL);
  BOOST_TEST(job.wait() == 137);
  BOOST_TEST(job.last_line() == "launch | worker 1 on 127.0.0.3 was killed by signal 9 (Killed)");
  job.expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(nothing_is_left_of_a_launcher_that_is_killed, Machines) {
  Launched job(flags("127.0.0.2,127.0.0.3", "2"), sleeping_family);
  job.expect_processes(6);
  job.process().send_signal(SIGKILL);
  job.expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(all_hosts_that_are_not_fit_are_named_and_nothing_is_started, Machines) {
  Launched missing(flags("127.0.0.2,127.0.0.3", "2"), {"/nowhere/program"});
  BOOST_TEST(missing.wait() == 1);
  for (const char* host : {"127.0.0.2", "127.0.0.3"})
    expect(missing.output(), std::string(host) + ": the program '/nowhere/program' is not there");
  Launched silent(flags("127.0.0.2,127.0.0.9", "2"), {"/bin/sh", "-c", "echo started"});
  BOOST_TEST(silent.wait() == 1);
  expect(silent.output(), "127.0.0.9: ssh: connect to host 127.0.0.9 port");
  BOOST_TEST(silent.output().find("started") == std::string::npos);
  silent.expect_nothing_left();
}

BOOST_FIXTURE_TEST_CASE(a_host_whose_key_is_not_known_is_refused, Machines) {
  Launched job({"--ssh_config", server.config_of_a_stranger(), "-H", "127.0.0.2", "-np", "1"},
               {"/bin/true"});
  BOOST_TEST(job.wait() == 1);
  expect(job.output(), "127.0.0.2: ");
  expect(job.output(), "Host key verification failed");
}

BOOST_FIXTURE_TEST_CASE(a_host_without_actorflow_says_so, Machines) {
  auto all = flags("127.0.0.2", "1");
  all.insert(all.end(), {"--actorflow", "/nowhere/actor'flow"});
  Launched job(all, {"/bin/true"});
  BOOST_TEST(job.wait() == 1);
  expect(job.output(), "127.0.0.2: ");
  expect(job.output(), "install the same actorflow there, or say with --actorflow where it is");
}

// As an account whose shell is nologin answers whatever it is told to run, on standard output.
BOOST_FIXTURE_TEST_CASE(an_account_without_a_login_shell_is_told_from_a_host_without_actorflow,
                        Machines) {
  Folder folder;
  const std::string nologin = folder.file("nologin");
  write_file(nologin, "#!/bin/sh\necho 'This account is currently not available.'\nexit 1\n");
  chmod(nologin.c_str(), 0755);
  auto all = flags("127.0.0.2", "1");
  all.insert(all.end(), {"--actorflow", nologin});
  Launched job(all, {"/bin/true"});
  BOOST_TEST(job.wait() == 1);
  expect(job.output(),
         "127.0.0.2: This account is currently not available. It has no login shell; name another one, "
         "as user@host");
}

BOOST_FIXTURE_TEST_CASE(a_host_with_another_version_is_refused, Machines) {
  Folder folder;
  const std::string other = folder.file("actorflow");
  write_file(other,
             "#!/bin/sh\nprintf '\\001actorflow keeper\\002\\n\\022\\0\\0\\0\\005\\0\\0\\0hello"
             "\\005\\0\\0\\0009.9.9'\nexec cat > /dev/null\n");
  chmod(other.c_str(), 0755);
  auto all = flags("127.0.0.2", "1");
  all.insert(all.end(), {"--actorflow", other});
  Launched job(all, {"/bin/true"});
  BOOST_TEST(job.wait() == 1);
  expect(job.output(), "127.0.0.2: actorflow 9.9.9 is there, but");
}

BOOST_FIXTURE_TEST_CASE(training_runs_on_hosts_with_parameter_servers, Machines) {
  auto all = flags("127.0.0.2:1,127.0.0.3:2", "3");
  all.insert(all.end(), {"--ps", "2"});
  const std::string program = ACTORFLOW_BIN_DIR "/actorflow";
  Launched job(all, {program, "train", "digits", "--epochs", "2"});
  BOOST_TEST(job.wait() == 0);
  expect(job.output(), "worker 0 | test accuracy");
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_SUITE_END()
