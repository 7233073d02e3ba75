// Collective operations of real processes.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/adding_ranks.h"
#include "test/apps/support/process.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(all_reduce)

using namespace actorflow::test;

namespace {

// `first`: the beginning of rank 0's command; nothing: the program. The last ranks, `absent` of them,
// are not started.
Ranks start_ranks(int count, const std::vector<std::string>& more,
                  const std::vector<std::string>& first = {}, int absent = 0) {
  std::string hosts;
  for (const auto& address : free_addresses(count)) hosts += (hosts.empty() ? "" : ",") + address;
  Ranks ranks;
  for (int rank = 0; rank < count - absent; ++rank) {
    std::vector<std::string> command{"all_reduce"};
    if (rank == 0 && !first.empty()) command = first;
    command.insert(command.end(), {"--hosts", hosts, "--rank", std::to_string(rank)});
    command.insert(command.end(), more.begin(), more.end());
    ranks.push_back(std::make_unique<Process>(command));
  }
  return ranks;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_of_a_process_sum) {
  Process process({"all_reduce", "--ranks=4", "--bytes=40000"});
  BOOST_TEST(process.wait() == 0, process.output());
  BOOST_TEST(process.output().find("rank 3 of 4: 40000 bytes in") != std::string::npos,
             process.output());
}

BOOST_AUTO_TEST_CASE(four_processes_sum_small_and_large_tensors) {
  for (const auto* bytes : {"--bytes=8", "--bytes=5000000"})
    for (const auto& rank : start_ranks(4, {bytes})) BOOST_TEST(rank->wait() == 0, rank->output());
}

BOOST_AUTO_TEST_CASE(kill_9_of_a_rank_is_an_error_of_all_others_that_names_it) {
  expect_that_others_name_a_killed_rank(start_ranks(4, {"--rounds=100000000", "--bytes=100000"}), 2);
}

// The group waits for a rank that is never started; it does not wait for one that was there. Nobody
// waits for the timeout of the group, which ends as another error.
BOOST_AUTO_TEST_CASE(kill_9_of_a_rank_while_the_group_opens_is_an_error_of_all_others_that_names_it) {
  for (const std::size_t killed : {0, 1}) {
    const Ranks ranks = start_ranks(4, {}, {}, 1);
    BOOST_REQUIRE_MESSAGE(
        ranks[0]->prints("the group 'world' waits for rank 3 (/job:rank/task:3) since"),
        ranks[0]->output());
    ranks[killed]->send_signal(SIGKILL);
    const std::string name = std::to_string(killed);
    for (std::size_t other = 0; other < ranks.size(); ++other) {
      if (other == killed) continue;
      BOOST_TEST(ranks[other]->wait() == 138);
      const std::string output = ranks[other]->output();
      BOOST_TEST(output.find("the group 'world' cannot open: rank " + name + " (/job:rank/task:" + name +
                             ") is lost: ") != std::string::npos,
                 output);
      if (killed != 0) BOOST_TEST(output.find("it waited for rank 3 (") != std::string::npos, output);
    }
  }
}

BOOST_AUTO_TEST_CASE(any_rank_can_be_asked_who_waits) {
  const auto addresses = free_addresses(2);
  Ranks ranks;
  for (const auto* rank : {"0", "1"})
    ranks.push_back(std::make_unique<Process>(
        std::vector<std::string>{"all_reduce", "--hosts", addresses[0] + "," + addresses[1], "--rank",
                                 rank, "--rounds=100000000", "--bytes=100000"}));
  for (const auto& rank : ranks) BOOST_TEST(rank->prints("adds"), rank->output());
  for (const auto& address : addresses) {
    Process waits({"actorflow", "waits", address});
    BOOST_TEST(waits.wait() == 0, waits.output());
    BOOST_TEST(waits.output().find("group 'world'") != std::string::npos, waits.output());
  }
}

// They look for what the others show almost all of the time.
BOOST_AUTO_TEST_CASE(kill_9_of_a_rank_whose_page_others_look_at_is_an_error_that_names_it) {
  for (const std::size_t killed : {0, 1})
    expect_that_others_name_a_killed_rank(
        start_ranks(3, {"--rounds=100000000", "--bytes=8", "--spin_us=10000"}), killed);
}

// The file cannot be made as large as it must be.
BOOST_AUTO_TEST_CASE(a_rank_whose_shared_memory_is_refused_takes_part) {
  const std::vector<std::string> limited{"/bin/sh", "-c",
                                         "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\"",
                                         ACTORFLOW_BIN_DIR "/all_reduce"};
  for (const auto* bytes : {"--bytes=8", "--bytes=200000"})
    for (const auto& rank : start_ranks(3, {bytes}, limited))
      BOOST_TEST(rank->wait() == 0, rank->output());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need more
// It can map neither its own nor the others' shared memory.
BOOST_AUTO_TEST_CASE(a_rank_that_cannot_map_shared_memory_takes_part) {
  const std::vector<std::string> limited{"/bin/sh", "-c", "ulimit -v 1000000; exec \"$0\" \"$@\"",
                                         ACTORFLOW_BIN_DIR "/all_reduce"};
  for (const auto* bytes : {"--bytes=8", "--bytes=200000"})
    for (const auto& rank : start_ranks(3, {bytes}, limited))
      BOOST_TEST(rank->wait() == 0, rank->output());
}
#endif

BOOST_AUTO_TEST_SUITE_END()
