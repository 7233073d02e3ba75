// Collective operations of real processes.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"

using namespace actorflow::test;

namespace {

std::vector<std::unique_ptr<Process>> start_ranks(int count, const std::vector<std::string>& more) {
  std::string hosts;
  for (const auto& address : free_addresses(count)) hosts += (hosts.empty() ? "" : ",") + address;
  std::vector<std::unique_ptr<Process>> ranks;
  for (int rank = 0; rank < count; ++rank) {
    std::vector<std::string> command{"all_reduce", "--hosts", hosts, "--rank", std::to_string(rank)};
    command.insert(command.end(), more.begin(), more.end());
    ranks.push_back(std::make_unique<Process>(command));
  }
  return ranks;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(all_reduce)

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
  const auto ranks = start_ranks(4, {"--rounds=100000000", "--bytes=100000"});
  for (const auto& rank : ranks) BOOST_TEST(rank->prints("adds"), rank->output());
  ranks[2]->send_signal(SIGKILL);
  for (const int other : {0, 1, 3}) {
    Process& rank = *ranks[static_cast<std::size_t>(other)];
    BOOST_TEST(rank.wait() == 138);
    BOOST_TEST(rank.output().find("rank 2 (/job:rank/task:2) is lost") != std::string::npos,
               rank.output());
  }
}

BOOST_AUTO_TEST_SUITE_END()
