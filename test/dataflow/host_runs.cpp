#include "dataflow/collectives/host_runs.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(host_runs)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(ranks_that_follow_each_other_on_a_host_are_a_run) {
  const HostRuns uneven = actorflow::host_runs({"a", "b", "b", "c"});
  BOOST_TEST((uneven.runs == std::vector{1, 2, 1}));
  BOOST_TEST((uneven.ranks == 4 && uneven.hosts == 3 && uneven.largest == 2));
  BOOST_TEST(uneven.contiguous());
}

BOOST_AUTO_TEST_CASE(a_host_may_have_several_runs) {
  const HostRuns apart = actorflow::host_runs({"a", "a", "b", "a"});
  BOOST_TEST((apart.runs == std::vector{2, 1, 1}));
  BOOST_TEST((apart.hosts == 2 && apart.largest == 3 && apart.longest() == 2));
  BOOST_TEST(!apart.contiguous());
}

BOOST_AUTO_TEST_SUITE_END()
