#include "actors/task/job_state.h"

#include <boost/test/unit_test.hpp>

#include "actors/runtime/threaded_runtime.h"

using namespace actorflow;

namespace {

const TaskName worker{"worker", 1};
constexpr std::chrono::milliseconds now{0};

struct JobStateFixture {
  ThreadedRuntime runtime;
  JobState job{runtime};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(job_state, JobStateFixture)

BOOST_AUTO_TEST_CASE(a_replica_that_has_left_is_not_waited_for) {
  BOOST_TEST(job.wait_until_left({worker}, now).size() == 1u);
  job.left({worker, 7});
  BOOST_TEST(job.wait_until_left({worker}, now).empty());
}

BOOST_AUTO_TEST_CASE(its_replacement_counts_anew) {
  job.left({worker, 7});
  job.present({worker, 8});
  BOOST_TEST(job.wait_until_left({worker}, now).size() == 1u);
  job.left({worker, 8});
  BOOST_TEST(job.wait_until_left({worker}, now).empty());
}

BOOST_AUTO_TEST_CASE(what_is_heard_late_of_the_earlier_one_does_not_count) {
  job.present({worker, 8});
  job.left({worker, 7});
  BOOST_TEST(job.wait_until_left({worker}, now).size() == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_has_left_stays_so_while_it_is_still_connected) {
  job.left({worker, 7});
  job.present({worker, 7});
  BOOST_TEST(job.wait_until_left({worker}, now).empty());
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_reached_has_left_until_it_comes) {
  job.left({worker, 0});
  BOOST_TEST(job.wait_until_left({worker}, now).empty());
  job.present({worker, 8});
  BOOST_TEST(job.wait_until_left({worker}, now).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
