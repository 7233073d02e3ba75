// What messages between ranks cost, as rank 0 measures it when a group opens.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/collectives/engine/link_probe.h"
#include "test/actors/support/ranks.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(measured_links)

using namespace actorflow;
using test::Ranks;
using namespace std::chrono_literals;

namespace {

// The costs that each rank knows of a group.
std::vector<CostModel> costs_of(Ranks& ranks, int size) {
  std::vector<CostModel> all(static_cast<std::size_t>(size));
  ranks.run([&](Communicator& world) { all[static_cast<std::size_t>(world.rank())] = world.costs(); });
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_probe_takes_medians_and_drops_what_comes_twice) {
  const Tensor large = Tensor::zeros(DType::uint8, {1000});
  LinkProbe probe(large);
  std::vector<std::pair<std::uint32_t, bool>> sent;
  const auto send = [&](std::uint32_t number, const Tensor& payload) {
    sent.emplace_back(number, payload.valid());
  };
  Clock::time_point now{};
  probe.begin(now, send);
  bool over = false;
  std::size_t larges = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto [number, is_large] = sent[i];
    larges += is_large ? 1 : 0;
    // The first answer takes long, and the others 10 us, or 1 ms if the message is large.
    now += i == 0 ? 1s : is_large ? 1000us : 10us;
    over = probe.answered(number, now, send);
    BOOST_TEST(!probe.answered(number, now + 1s, send), "the answer came before");
    BOOST_TEST(over == (i + 1 == sent.size()));
  }
  BOOST_TEST(over);
  BOOST_TEST(larges == 3U);
  const LinkTimes times = probe.times();
  const auto close = boost::test_tools::tolerance(1e-9);
  BOOST_TEST(times.round_trip == 10e-6, close);
  BOOST_TEST(times.burst == times.burst_messages * 10e-6, close);
  BOOST_TEST(times.large == 1e-3, close);
  BOOST_TEST(times.large_bytes == 1000);
}

BOOST_AUTO_TEST_CASE(all_ranks_know_the_same_costs_which_rank_0_has_measured) {
  Ranks ranks(3, {.hosts = {"a", "a", "b"}});
  const auto costs = costs_of(ranks, 3);
  BOOST_TEST((costs[0] == costs[1] && costs[1] == costs[2]));
  BOOST_TEST((costs[0].host != CostModel{}.host));
  BOOST_TEST((costs[0].network != CostModel{}.network));
  BOOST_TEST((costs_of(ranks, 3)[2] == costs[0]), "a link is measured once");
}

BOOST_AUTO_TEST_CASE(costs_of_a_link_that_is_not_there_are_the_usual_ones) {
  Ranks ranks(2);
  const auto costs = costs_of(ranks, 2);
  BOOST_TEST((costs[1].host != CostModel{}.host));
  BOOST_TEST((costs[1].network == CostModel{}.network));
  Ranks direct(2, {.algorithm = Algorithm::direct});
  BOOST_TEST((costs_of(direct, 2)[1] == CostModel{}), "there is nothing to choose");
}

BOOST_AUTO_TEST_CASE(a_program_may_give_the_costs) {
  CostModel given;
  given.host.latency = 1;
  Ranks ranks(2, {.costs = given});
  for (const auto& costs : costs_of(ranks, 2)) BOOST_TEST((costs == given));
}

BOOST_AUTO_TEST_CASE(costs_that_a_program_cannot_mean_are_refused) {
  CostModel given;
  given.host.latency = -1;
  Ranks ranks(2, {.costs = given});
  BOOST_CHECK_EXCEPTION(costs_of(ranks, 2), Error, test::says("CostModel::host.latency"));
}

BOOST_AUTO_TEST_SUITE_END()
