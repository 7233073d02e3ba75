// Servers that are killed and started again on their ports, as processes.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <map>
#include <thread>

#include "actors/actorflow.h"
#include "test/apps/support/trainers.h"
#include "test/support/folder.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"
#include "test/support/waiting_token.h"

using namespace actorflow;
using test::free_addresses;
using test::Process;
using test::status_of;
using test::Trainers;

namespace {

// What a monitored session takes as a reason to begin anew.
bool is_preemption(const Status& status) {
  return status.code == Code::aborted || status.code == Code::unavailable;
}

// "ps" with the variable, "worker" whose master the client uses.
struct Servers {
  Servers() {
    const auto addresses = free_addresses(2);
    ps = addresses[0];
    worker = addresses[1];
    g.on("/job:ps/task:0", [&] { v = g.variable("v", g.constant(std::int64_t{5})); });
    more = g.assign_add(v, g.constant(std::int64_t{1}));
    start("ps");
    start("worker");
  }

  void start(const std::string& job) {
    const std::string cluster = R"({"ps": [")" + ps + R"("], "worker": [")" + worker + R"("]})";
    processes[job] = std::make_unique<Process>(std::vector<std::string>{
        "actorflow", "server", "--cluster", cluster, "--job", job, "--task", "0"});
    BOOST_REQUIRE(processes[job]->prints("listening"));
  }
  void kill(const std::string& job) {
    processes[job]->send_signal(SIGKILL);
    BOOST_TEST(processes[job]->wait() == 128 + SIGKILL);
  }
  Session session() const { return Session("actorflow://" + worker, g); }

  std::string ps, worker;
  std::map<std::string, std::unique_ptr<Process>> processes;
  Graph g;
  Variable v;
  Output more;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(restarts, Servers)

BOOST_AUTO_TEST_CASE(a_restarted_ps_is_seen_as_aborted_or_unavailable_until_there_is_a_new_session) {
  for (int round = 0; round < 3; ++round) {
    Session before = session();
    before.initialize_variables();
    BOOST_TEST(before.run(more).scalar<std::int64_t>() == 6);
    kill("ps");
    start("ps");
    for (int i = 0; i < 5; ++i) {
      const Status status = status_of([&] { before.run(more); });
      BOOST_TEST(is_preemption(status), status.to_string());
      if (i > 0) BOOST_TEST((status.code == Code::aborted), status.to_string());
    }
    Session after = session();
    BOOST_TEST(after.uninitialized_variables().size() == 1u);
    after.initialize_variables();
    BOOST_TEST(after.run(more).scalar<std::int64_t>() == 6);
  }
}

BOOST_AUTO_TEST_CASE(a_restarted_worker_finds_the_variables_as_they_were) {
  Session before = session();
  before.initialize_variables();
  BOOST_TEST(before.run(more).scalar<std::int64_t>() == 6);
  kill("worker");
  const Status lost = status_of([&] { before.run(more); });
  BOOST_TEST(is_preemption(lost), lost.to_string());
  start("worker");
  const Status still = status_of([&] { before.run(more); });
  BOOST_TEST(is_preemption(still), still.to_string());
  Session after = session();
  BOOST_TEST(after.run(v).scalar<std::int64_t>() == 6);
  BOOST_TEST(after.run(more).scalar<std::int64_t>() == 7);
}

// The step waits at a barrier on the ps that nobody opens.
BOOST_AUTO_TEST_CASE(a_step_on_a_killed_ps_fails_and_does_not_hang) {
  const Output started = g.assign_add(v, g.constant(std::int64_t{1}));
  const Output forever = g.on("/job:ps/task:0", [&] {
    return g.after({started}, [&] { return test::token_that_never_comes(g, v.name(), 6); });
  });
  Session s = session();
  s.initialize_variables();
  Status status;
  std::jthread step([&] { status = status_of([&] { s.run(forever); }); });
  while (s.run(v).scalar<std::int64_t>() == 5) std::this_thread::yield();
  kill("ps");
  step.join();
  BOOST_TEST((status.code == Code::unavailable), status.to_string());
  BOOST_TEST(status.message.find("/job:ps/task:0") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(a_worker_that_never_starts_does_not_delay_the_end_of_the_others) {
  Trainers trainers(1, 2, {"--train_steps=50", "--connect_timeout=3600"});
  trainers.start("ps", 0);
  trainers.start("worker", 0);
  trainers.expect_success();
}

BOOST_AUTO_TEST_CASE(a_server_counts_its_starts_in_the_folder_of_checkpoints) {
  const test::Folder folder;
  for (int start = 1; start <= 2; ++start) {
    Process server({"actorflow", "server", "--cluster", R"({"ps": ["127.0.0.1:0"]})", "--job", "ps",
                    "--task", "0", "--checkpoint-dir", folder.path()});
    BOOST_REQUIRE(server.prints("listening"));
  }
  BOOST_TEST(take_start_number(posix_storage(), folder.path(), {"ps", 0}) == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
