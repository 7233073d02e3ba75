#include "dataflow/collectives/ranks.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/values/error.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(ranks)

using namespace actorflow;
using test::says;

namespace {

using Places = std::vector<RankPlace>;

}  // namespace

// The numbers are those of Horovod's own test.
BOOST_AUTO_TEST_CASE(processes_fill_the_slots_of_hosts_in_their_order) {
  const Places expected{{0, 0, 0, 1, 2}, {1, 0, 1, 2, 2}, {2, 1, 0, 2, 1}};
  BOOST_TEST((place_ranks(parse_host_slots("a:1,b:2"), 3) == expected));
}

BOOST_AUTO_TEST_CASE(fewer_processes_than_slots_leave_the_last_ones_free) {
  const Places expected{{0, 0, 0, 2, 1}, {1, 1, 0, 2, 1}};
  BOOST_TEST((place_ranks(parse_host_slots("a:2,b:2"), 2) == expected));
}

BOOST_AUTO_TEST_CASE(too_few_slots_are_refused_with_both_numbers) {
  BOOST_CHECK_EXCEPTION(place_ranks(parse_host_slots("a:1,b:2"), 4), Error,
                        says("Requested more processes (4) than there are available slots (3)"));
  BOOST_CHECK_EXCEPTION(place_ranks(parse_host_slots("a"), 0), Error, says("1 process or more"));
}

BOOST_AUTO_TEST_CASE(ranks_of_a_host_need_not_follow_each_other) {
  const Places expected{{0, 0, 0, 2, 2}, {1, 0, 1, 1, 2}, {2, 1, 0, 2, 1}};
  BOOST_TEST((places_of({"a", "b", "a"}) == expected));
}

BOOST_AUTO_TEST_CASE(hosts_are_names_with_numbers) {
  const std::vector<HostSlots> expected{{"a", 1}, {"[::1]", 3}, {"10.0.0.1", 12}};
  BOOST_TEST((parse_host_slots("a,[::1]:3,10.0.0.1:12") == expected));
  for (const auto* wrong :
       {"", "a:0", "a:", "a:x", "a:1x", ":1", "a,,b", "a:-1", "[::1", "a:99999999999"})
    BOOST_CHECK_EXCEPTION(parse_host_slots(wrong), Error, says("expected hosts such as"));
}

BOOST_AUTO_TEST_SUITE_END()
