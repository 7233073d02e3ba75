// All-reduces of processes on two machines, two on each.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/adding_ranks.h"
#include "test/apps/support/machines.h"
#include "test/apps/support/process.h"

BOOST_AUTO_TEST_SUITE(all_reduce_machines,
                      *boost::unit_test::precondition(actorflow::test::has_machines))

using actorflow::Lan;
using namespace actorflow::test;

namespace {

Ranks start_ranks(Lan& lan, const std::vector<std::string>& more) {
  lan.set_name("first", 0);
  lan.set_name("second", 1);
  Ranks ranks;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<std::string> command{
        ACTORFLOW_BIN_DIR "/all_reduce",
        "--insecure",
        "--hosts=first:2222,first:2223,second:2222,second:2223",
        "--rank=" + std::to_string(rank),
    };
    command.insert(command.end(), more.begin(), more.end());
    ranks.push_back(std::make_unique<Process>(lan.on(rank / 2, std::move(command))));
  }
  return ranks;
}

// The packets between the machines until all have succeeded.
std::uint64_t packets_of(const std::string& algorithm) {
  Lan lan(2);
  for (const auto& rank :
       start_ranks(lan, {"--bytes=4000000", "--rounds=10", "--algorithm=" + algorithm}))
    BOOST_TEST(rank->wait() == 0, rank->output());
  return lan.counts().carried;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tensors_of_any_size_are_summed) {
  for (const auto* bytes : {"--bytes=8", "--bytes=100000", "--bytes=5000000"}) {
    Lan lan(2);
    for (const auto& rank : start_ranks(lan, {bytes, "--algorithm=hierarchical"}))
      BOOST_TEST(rank->wait() == 0, rank->output());
  }
}

// Each machine sends the tensor once, in place of half of it twice for each rank. The program chooses so
// by itself.
BOOST_AUTO_TEST_CASE(a_sum_for_each_machine_needs_half_of_the_packets) {
  const double flat = static_cast<double>(packets_of("rabenseifner"));
  BOOST_TEST(static_cast<double>(packets_of("hierarchical")) < 0.7 * flat);
  BOOST_TEST(static_cast<double>(packets_of("automatic")) < 0.7 * flat);
}

BOOST_AUTO_TEST_CASE(kill_9_of_a_rank_is_an_error_of_all_others_that_names_it) {
  for (const std::size_t killed : {1, 2}) {
    Lan lan(2);
    expect_that_others_name_a_killed_rank(
        start_ranks(lan, {"--rounds=100000000", "--bytes=100000", "--algorithm=hierarchical"}), killed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
