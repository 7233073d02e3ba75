// An elastic job on machines that are reached by a real sshd, of which some come and some are lost.
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "test/apps/launch/support/launched.h"
#include "test/apps/launch/support/ssh_server.h"

BOOST_AUTO_TEST_SUITE(elastic_ssh, *boost::unit_test::precondition(actorflow::test::has_ssh_server))

using namespace actorflow;
using namespace actorflow::test;

namespace {

// The hosts of a job, which its discovery script prints.
class FoundHosts {
 public:
  explicit FoundHosts(const std::string& lines) {
    print(lines);
    std::ofstream(script()) << "#!/bin/sh\ncat " << folder_.file("hosts") << '\n';
    std::filesystem::permissions(script(), std::filesystem::perms::owner_all);
  }
  std::string script() const { return folder_.file("discover"); }
  void print(const std::string& lines) const {
    std::ofstream(folder_.file("new")) << lines << '\n';
    std::filesystem::rename(folder_.file("new"), folder_.file("hosts"));
  }

 private:
  Folder folder_;
};

// The keeper of a task, which sshd has started.
pid_t keeper_of(Launched& job, const std::string& task) {
  std::ifstream status("/proc/" + std::to_string(job.task_with("ACTORFLOW_ELASTIC_TASK=" + task)) +
                       "/stat");
  std::string number, program, state;
  pid_t keeper = 0;
  status >> number >> program >> state >> keeper;
  return keeper;
}

}  // namespace

BOOST_AUTO_TEST_CASE(machines_come_leave_and_are_lost_while_the_job_trains_by_tls) {
  const SshServer server;
  const FoundHosts hosts("127.0.0.2:1\n127.0.0.3:1");
  Launched job({"--ssh_config", server.client_config(), "--secure", "-np", "2", "--min", "1", "--max",
                "3", "--host_discovery", hosts.script()},
               {ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--strategy", "multi_worker",
                "--train_steps", "1000000"});
  Process& process = job.process();
  BOOST_REQUIRE(process.prints("worker 0 | step"));
  hosts.print("127.0.0.2:1\n127.0.0.3:1\n127.0.0.4:1");
  BOOST_REQUIRE(process.prints("launch | worker 2 starts on 127.0.0.4"));
  BOOST_REQUIRE(process.prints("worker 2 | step"));
  kill(keeper_of(job, "1"), SIGKILL);
  BOOST_REQUIRE(process.prints("launch | 127.0.0.3 is lost: "));
  BOOST_REQUIRE(process.prints(": 2 of 3 tasks train on from step "));
  hosts.print("127.0.0.4:1");
  BOOST_REQUIRE(process.prints("worker 0 has no slot on 127.0.0.2 any more, so it leaves"));
  BOOST_REQUIRE(process.prints("; worker 0 has left"));
  process.send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_machine_that_comes_and_is_not_reached_is_left_out_with_the_reason) {
  const SshServer server;
  const FoundHosts hosts("127.0.0.2:1");
  Launched job({"--ssh_config", server.client_config(), "-np", "1", "--max", "2", "--host_discovery",
                hosts.script()},
               {ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--strategy", "multi_worker",
                "--train_steps", "1000000"});
  Process& process = job.process();
  BOOST_REQUIRE(process.prints("worker 0 | step"));
  hosts.print("127.0.0.2:1\n127.0.0.9:1");
  BOOST_REQUIRE(process.prints("launch | 127.0.0.9 is lost: ssh: connect to host 127.0.0.9 port"));
  hosts.print("127.0.0.2:1\n127.0.0.9:1\n127.0.0.4:1");  // its task takes nothing of --max
  BOOST_REQUIRE(process.prints("starts on 127.0.0.4"));
  process.send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_spare_machine_that_is_listed_takes_the_place_of_a_task_that_died) {
  const SshServer server;
  const FoundHosts hosts("127.0.0.2:1\n127.0.0.3:1\n127.0.0.4:1");
  Launched job({"--ssh_config", server.client_config(), "-np", "2", "--min", "1", "--max", "2",
                "--host_discovery", hosts.script()},
               {ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--strategy", "multi_worker",
                "--train_steps", "1000000"});
  Process& process = job.process();
  BOOST_REQUIRE(process.prints("worker 1 | step"));
  kill(job.task_with("ACTORFLOW_ELASTIC_TASK=1"), SIGKILL);
  BOOST_REQUIRE(process.prints("launch | worker 2 starts on 127.0.0.4"));
  process.send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_job_that_begins_on_this_machine_grows_to_another) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string here = std::string(name.data()) + ":1";
  const SshServer server;
  const FoundHosts hosts(here);
  Launched job({"--ssh_config", server.client_config(), "--secure", "-np", "1", "--max", "2",
                "--host_discovery", hosts.script()},
               {ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--strategy", "multi_worker",
                "--train_steps", "1000000"});
  Process& process = job.process();
  BOOST_REQUIRE(process.prints("worker 0 | step"));
  hosts.print(here + "\n127.0.0.3:1");
  BOOST_REQUIRE(process.prints("launch | worker 1 starts on 127.0.0.3"));
  BOOST_REQUIRE(process.prints("worker 1 | step"));
  process.send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_CASE(a_job_that_began_elsewhere_takes_this_machine) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const SshServer server;
  const FoundHosts hosts("127.0.0.2:1");
  Launched job({"--ssh_config", server.client_config(), "--secure", "-np", "1", "--max", "2",
                "--host_discovery", hosts.script()},
               {ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--strategy", "multi_worker",
                "--train_steps", "1000000"});
  Process& process = job.process();
  BOOST_REQUIRE(process.prints("worker 0 | step"));
  hosts.print("127.0.0.2:1\nlocalhost:1");
  BOOST_REQUIRE(process.prints("is left out: the job's tasks talk by the network"));
  hosts.print("127.0.0.2:1\n" + std::string(name.data()) + ":1");
  BOOST_REQUIRE(process.prints(std::string("launch | worker 1 starts on ") + name.data()));
  BOOST_REQUIRE(process.prints("worker 1 | step"));
  process.send_signal(SIGINT);
  BOOST_TEST(job.wait() == 130);
  job.expect_nothing_left();
}

BOOST_AUTO_TEST_SUITE_END()
