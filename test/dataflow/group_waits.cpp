#include "dataflow/collectives/group_waits.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(group_waits)

using namespace actorflow;

namespace {

using Accounts = std::vector<std::optional<RankAccount>>;
using Numbers = std::vector<std::int32_t>;

const std::vector<std::string> three{"rank 0", "rank 1", "rank 2"};

RankAccount waiting_for(const std::string& name, std::uint64_t use, double seconds) {
  return {.in_flight = {{name, use, "barrier", seconds}},
          .used = {{name, use}},
          .joined_for = {},
          .last = "it finished nothing"};
}
RankAccount busy(const std::string& name, std::uint64_t use) {
  return {.in_flight = {}, .used = {{name, use}}, .joined_for = {}, .last = "it finished " + name};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_rank_that_has_not_entered_a_use_is_missing) {
  const auto waits = waits_of(three, Accounts{waiting_for("x", 4, 2), busy("x", 3), busy("x", 4)});
  BOOST_REQUIRE(waits.operations.size() == 1U);
  const auto& operation = waits.operations[0];
  BOOST_TEST(operation.name == "x");
  BOOST_TEST(operation.seconds == 2);
  BOOST_TEST((operation.waiting == Numbers{0}));
  BOOST_TEST((operation.missing == Numbers{1}), "rank 2 is done with it");
  BOOST_TEST((lines_of(waits) == std::vector<std::string>{"barrier 'x' has waited for 2.0 s on rank 0",
                                                          "  for rank 1: it finished x"}));
}

BOOST_AUTO_TEST_CASE(ranks_may_wait_for_each_other) {
  const auto waits =
      waits_of(three, Accounts{waiting_for("a", 1, 1), waiting_for("b", 1, 3), waiting_for("a", 1, 2)});
  BOOST_REQUIRE(waits.operations.size() == 2U);
  BOOST_TEST(waits.operations[0].name == "b", "it has waited longest");
  BOOST_TEST((waits.operations[0].missing == Numbers{0, 2}));
  BOOST_TEST(waits.operations[1].seconds == 2);
  BOOST_TEST((waits.operations[1].missing == Numbers{1}));
}

BOOST_AUTO_TEST_CASE(who_is_silent_is_named_and_who_has_joined_is_not_missing) {
  RankAccount joined = busy("x", 2);
  joined.joined_for = 5;
  const auto waits = waits_of(three, Accounts{waiting_for("x", 3, 1), std::nullopt, joined});
  BOOST_REQUIRE(waits.operations.size() == 2U);
  BOOST_TEST(waits.operations[0].call == "join");
  BOOST_TEST((waits.operations[0].waiting == Numbers{2}));
  BOOST_TEST((waits.operations[0].missing == Numbers{0}));
  BOOST_TEST(waits.operations[1].missing.empty());
  const auto lines = lines_of(waits);
  BOOST_TEST(lines.back() == "rank 1: it does not answer");
  BOOST_TEST(lines[lines.size() - 2] ==
             "  for ranks that do not answer, or messages that are under way");
}

BOOST_AUTO_TEST_CASE(where_all_have_entered_messages_are_under_way) {
  const auto waits =
      waits_of(three, Accounts{waiting_for("x", 1, 1), waiting_for("x", 1, 1), waiting_for("x", 1, 1)});
  BOOST_TEST(lines_of(waits).back() == "  for messages that are under way");
}

BOOST_AUTO_TEST_CASE(nobody_waits) {
  const auto waits = waits_of(three, Accounts{busy("x", 2), busy("x", 2), busy("x", 2)});
  BOOST_TEST((lines_of(waits) == std::vector<std::string>{"no rank waits"}));
}

BOOST_AUTO_TEST_SUITE_END()
