// Training loops of real processes that go on from their newest commit when ranks are lost, stopped or
// lack memory, and come back: they learn the bits of a serial loop (elastic/).
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/apps/support/frame_proxy.h"
#include "test/apps/support/process.h"
#include "test/support/contains.h"
#include "test/support/folder.h"
#include "test/support/hang_limit.h"
#include "test/support/ports.h"
#include "test/support/sanitized.h"

BOOST_AUTO_TEST_SUITE(elastic_loops)

using namespace actorflow::test;
using namespace std::chrono_literals;

namespace {

// Small allocations can fail but under a sanitizer, whose allocator ends the program.
boost::test_tools::assertion_result memory_can_be_scarce(boost::unit_test::test_unit_id) {
  return !sanitized;
}

// Three ranks, each a process with these flags.
class Loops {
 public:
  static constexpr std::size_t count = 3;

  explicit Loops(std::vector<std::string> flags)
      : flags_(std::move(flags)), addresses_(free_addresses(count)), ranks_(count) {}

  // From now on processes reach each other by these, which can be cut.
  void go_by_proxies() {
    for (const auto& address : addresses_)
      proxies_.push_back(std::make_unique<FrameProxy>(address, [] {
        return [](const FrameProxy::Frame& frame, const FrameProxy::Send& send) { send(frame.bytes); };
      }));
  }
  void cut_connections() {
    for (const auto& proxy : proxies_) proxy->cut();
  }
  void start(std::size_t rank, const std::vector<std::string>& environment = {},
             const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{"/usr/bin/env"};
    add(command, environment);
    add(command, {ACTORFLOW_BIN_DIR "/elastic_trainer", "--hosts", hosts_of(rank), "--rank",
                  std::to_string(rank), "--end_file", folder_.file("end")});
    add(command, flags_);
    add(command, more);
    ranks_[rank] = std::make_unique<Process>(std::move(command));
  }
  void start_all() {
    for (std::size_t rank = 0; rank < count; ++rank) start(rank);
  }
  Process& operator[](std::size_t rank) { return *ranks_[rank]; }
  void wait_until(std::size_t rank, const std::string& text) {
    BOOST_REQUIRE_MESSAGE(ranks_[rank]->prints(text), ranks_[rank]->output());
  }
  // Until then the last step waits: whatever is done to ranks before is done while they train.
  void let_end() const { write_file(folder_.file("end"), ""); }
  void kill(std::size_t rank) { ranks_[rank]->send_signal(SIGKILL); }
  void expect_learned(const std::vector<std::size_t>& ranks = {0, 1, 2}) {
    let_end();
    for (const std::size_t rank : ranks) {
      BOOST_TEST(ranks_[rank]->wait() == 0, ranks_[rank]->output());
      BOOST_TEST(contains(ranks_[rank]->output(), "learned "), ranks_[rank]->output());
    }
  }

 private:
  static void add(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  std::string hosts_of(std::size_t own) const {
    std::string hosts;
    for (std::size_t rank = 0; rank < count; ++rank) {
      const bool by_proxy = rank != own && !proxies_.empty();
      hosts += (hosts.empty() ? "" : ",") + (by_proxy ? proxies_[rank]->address() : addresses_[rank]);
    }
    return hosts;
  }

  const Folder folder_;
  const std::vector<std::string> flags_;
  const std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<FrameProxy>> proxies_;
  std::vector<std::unique_ptr<Process>> ranks_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_that_are_killed_and_come_back_change_no_bit) {
  Loops loops({"--steps=150"});
  loops.start_all();
  loops.wait_until(0, "made step 10\n");
  loops.kill(1);
  loops.start(1);
  loops.wait_until(1, "made step 40\n");  // the steps before are those of the others
  BOOST_TEST(!contains(loops[1].output(), "made step 5\n"), loops[1].output());
  for (const std::size_t rank : {0, 2}) loops.kill(rank);
  for (const std::size_t rank : {0, 2}) loops.start(rank);
  loops.expect_learned();
}

// The processes live, and begin their connections anew.
BOOST_AUTO_TEST_CASE(ranks_whose_connections_break_go_on) {
  Loops loops({"--steps=150"});
  loops.go_by_proxies();
  loops.start_all();
  for (const char* step : {"made step 10\n", "made step 40\n", "made step 70\n"}) {
    loops.wait_until(0, step);
    loops.cut_connections();
  }
  loops.expect_learned();
}

// What it is told takes a while; then the one that tells it is killed, too.
BOOST_AUTO_TEST_CASE(a_rank_may_be_killed_while_it_is_given_the_state) {
  Loops loops({"--steps=30", "--elements=200000"});
  loops.start_all();
  loops.wait_until(0, "made step 2\n");
  loops.kill(2);
  loops.start(2);
  loops.wait_until(0, "/job:rank/task:2 at ");  // it has restarted
  loops.kill(2);
  loops.start(2);
  loops.wait_until(2, "3 ranks go on from step");
  loops.kill(0);
  loops.start(0);
  loops.expect_learned();
}

BOOST_AUTO_TEST_CASE(a_rank_that_was_stopped_for_a_while_is_given_the_state_of_the_others) {
  for (const std::size_t stopped : {0, 1}) {
    Loops loops({"--steps=60"});
    loops.start_all();
    loops.wait_until(2, "made step 10\n");
    loops[stopped].send_signal(SIGSTOP);
    loops.wait_until(2, "training goes on from commit");
    loops[stopped].send_signal(SIGCONT);
    loops.expect_learned();
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_was_given_up_changes_nothing_when_it_goes_on) {
  const Folder folder;
  const std::string members = folder.file("members");
  write_file(members, "0 1 2");
  Loops loops({"--steps=60", "--members", members});
  loops.start_all();
  loops.wait_until(0, "made step 10\n");
  loops[2].send_signal(SIGSTOP);
  write_file(members, "0 1");
  loops.wait_until(0, "2 ranks go on from step");
  loops[2].send_signal(SIGCONT);
  BOOST_TEST(loops[2].wait() == 1, loops[2].output());
  BOOST_TEST(contains(loops[2].output(), "/job:rank/task:2 is not among the ranks of the group"),
             loops[2].output());
  loops.expect_learned({0, 1});
}

// It is lost to the others, which wait for a better one.
BOOST_AUTO_TEST_CASE(a_rank_with_other_variables_is_refused_alone) {
  Loops loops({"--steps=80"});
  loops.start_all();
  loops.wait_until(0, "made step 10\n");
  loops.kill(1);
  loops.start(1, {}, {"--more_elements=5"});
  BOOST_TEST(loops[1].wait() == 1, loops[1].output());
  BOOST_TEST(contains(loops[1].output(), "'weights' is float32[1005]"), loops[1].output());
  loops.wait_until(0, "rank 1 has failed: ");
  loops.start(1);
  loops.expect_learned();
}

// Wherever it is. A rank that cannot go on is started again; one that fails when the others have ended
// is not missed.
BOOST_AUTO_TEST_CASE(allocations_that_fail_now_and_then_change_no_bit,
                     *boost::unit_test::precondition(memory_can_be_scarce)) {
  Loops loops({"--steps=400"});
  const auto start_scarce = [&] {
    loops.start(1, {"LD_PRELOAD=" ACTORFLOW_SCARCE_MEMORY, "SCARCE_MEMORY_EVERY=5000"});
  };
  for (const std::size_t rank : {0, 2}) loops.start(rank);
  start_scarce();
  loops.wait_until(1, "an allocation fails here");
  loops.let_end();
  // It may fail when the others have learned all, and then waits for them in vain.
  const auto end = std::chrono::steady_clock::now() + hang_limit;
  while (!loops[0].has_ended() && std::chrono::steady_clock::now() < end) {
    if (loops[1].has_ended() && loops[1].wait() != 0) start_scarce();
    std::this_thread::sleep_for(10ms);
  }
  loops.expect_learned({0, 2});
}

BOOST_AUTO_TEST_SUITE_END()
