// An elastic job on machines that are reached by a real sshd, of which some come and some are lost.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

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

// A job on these hosts that trains until it is interrupted.
struct TrainingOnFoundHosts {
  TrainingOnFoundHosts(const std::string& lines, std::vector<std::string> flags)
      : hosts(lines), job(with_hosts(std::move(flags)), program) {}

  std::vector<std::string> with_hosts(std::vector<std::string> flags) const {
    for (const auto& more : {std::string("--ssh_config"), server.client_config(),
                             std::string("--host_discovery"), hosts.script()})
      flags.push_back(more);
    return flags;
  }
  bool prints(const std::string& text) { return job.process().prints(text); }
  int task(int number) { return job.task_with("ACTORFLOW_ELASTIC_TASK=" + std::to_string(number)); }
  void end() {
    job.process().send_signal(SIGINT);
    BOOST_TEST(job.wait() == 130);
    job.expect_nothing_left();
  }

  const std::vector<std::string> program{ACTORFLOW_BIN_DIR "/actorflow",
                                         "train",
                                         "digits",
                                         "--strategy",
                                         "multi_worker",
                                         "--train_steps",
                                         "1000000"};
  const SshServer server;
  const FoundHosts hosts;
  Launched job;
};

}  // namespace

BOOST_AUTO_TEST_CASE(machines_come_leave_and_are_lost_while_the_job_trains_by_tls) {
  TrainingOnFoundHosts job("127.0.0.2:1\n127.0.0.3:1",
                           {"--secure", "-np", "2", "--min", "1", "--max", "3"});
  BOOST_REQUIRE(job.prints("worker 0 | step"));
  job.hosts.print("127.0.0.2:1\n127.0.0.3:1\n127.0.0.4:1");
  BOOST_REQUIRE(job.prints("launch | worker 2 starts on 127.0.0.4"));
  BOOST_REQUIRE(job.prints("worker 2 | step"));
  kill(parent_of(job.task(1)), SIGKILL);
  BOOST_REQUIRE(job.prints("launch | 127.0.0.3 is lost: "));
  BOOST_REQUIRE(job.prints(": 2 of 3 tasks train on from step "));
  job.hosts.print("127.0.0.4:1");
  BOOST_REQUIRE(job.prints("worker 0 has no slot on 127.0.0.2 any more, so it leaves"));
  BOOST_REQUIRE(job.prints("; worker 0 has left"));
  job.end();
}

BOOST_AUTO_TEST_CASE(a_machine_that_comes_and_is_not_reached_is_left_out_with_the_reason) {
  TrainingOnFoundHosts job("127.0.0.2:1", {"-np", "1", "--max", "2"});
  BOOST_REQUIRE(job.prints("worker 0 | step"));
  job.hosts.print("127.0.0.2:1\n127.0.0.9:1");
  BOOST_REQUIRE(job.prints("launch | 127.0.0.9 is left out: ssh: connect to host 127.0.0.9 port"));
  BOOST_REQUIRE(job.prints("; it is tried again in 10 s, and then ever less often"));
  job.hosts.print("127.0.0.2:1\n127.0.0.9:1\n127.0.0.4:1");  // its task takes nothing of --max
  BOOST_REQUIRE(job.prints("starts on 127.0.0.4"));
  job.end();
}

BOOST_AUTO_TEST_CASE(a_spare_machine_that_is_listed_takes_the_place_of_a_task_that_died) {
  TrainingOnFoundHosts job("127.0.0.2:1\n127.0.0.3:1\n127.0.0.4:1",
                           {"-np", "2", "--min", "1", "--max", "2"});
  BOOST_REQUIRE(job.prints("worker 1 | step"));
  kill(job.task(1), SIGKILL);
  BOOST_REQUIRE(job.prints("launch | 127.0.0.3 gets no new tasks, since worker 1 has ended there; if"));
  BOOST_REQUIRE(job.prints("launch | worker 2 starts on 127.0.0.4"));
  job.end();
}

BOOST_AUTO_TEST_CASE(a_machine_on_which_a_task_died_gets_another_one_after_a_cooldown) {
  TrainingOnFoundHosts job("127.0.0.2:1\n127.0.0.3:1",
                           {"-np", "2", "--min", "1", "--blacklist_cooldown_range", "1,5"});
  BOOST_REQUIRE(job.prints("worker 1 | step"));
  kill(job.task(1), SIGKILL);
  BOOST_REQUIRE(job.prints("launch | 127.0.0.3 gets no new tasks for 1 s, since worker 1 has ended"));
  BOOST_REQUIRE(job.prints("launch | worker 2 starts on 127.0.0.3"));
  BOOST_REQUIRE(job.prints("worker 2 | step"));
  job.end();
}

BOOST_AUTO_TEST_CASE(a_machine_that_was_lost_is_taken_again_when_it_is_back) {
  TrainingOnFoundHosts job("127.0.0.2:1\n127.0.0.3:1", {"--secure", "-np", "2", "--min", "1"});
  BOOST_REQUIRE(job.prints("worker 1 | step"));
  kill(parent_of(job.task(1)), SIGKILL);
  BOOST_REQUIRE(job.prints("launch | 127.0.0.3 is lost: "));
  BOOST_REQUIRE(job.prints("; it is tried again in 10 s, and then ever less often"));
  BOOST_REQUIRE(job.prints("launch | worker 2 starts on 127.0.0.3"));
  BOOST_REQUIRE(job.prints("worker 2 | step"));
  job.end();
}

BOOST_AUTO_TEST_CASE(a_job_that_begins_on_this_machine_grows_to_another) {
  const std::string here = name_of_this_machine() + ":1";
  TrainingOnFoundHosts job(here, {"--secure", "-np", "1", "--max", "2"});
  BOOST_REQUIRE(job.prints("worker 0 | step"));
  job.hosts.print(here + "\n127.0.0.3:1");
  BOOST_REQUIRE(job.prints("launch | worker 1 starts on 127.0.0.3"));
  BOOST_REQUIRE(job.prints("worker 1 | step"));
  job.end();
}

BOOST_AUTO_TEST_CASE(a_job_that_began_elsewhere_takes_this_machine) {
  TrainingOnFoundHosts job("127.0.0.2:1", {"--secure", "-np", "1", "--max", "2"});
  BOOST_REQUIRE(job.prints("worker 0 | step"));
  job.hosts.print("127.0.0.2:1\nlocalhost:1");
  BOOST_REQUIRE(job.prints("is left out: the job's tasks talk by the network"));
  job.hosts.print("127.0.0.2:1\n" + name_of_this_machine() + ":1");
  BOOST_REQUIRE(job.prints("launch | worker 1 starts on " + name_of_this_machine()));
  BOOST_REQUIRE(job.prints("worker 1 | step"));
  job.end();
}

BOOST_AUTO_TEST_SUITE_END()
