// Jobs on several tasks as datasets, between tasks that are lost: each task's share is that of a run
// that nothing has disturbed.
#include <boost/test/unit_test.hpp>

#include "actors/probes/point.h"
#include "test/simulation/support/share_job.h"

BOOST_AUTO_TEST_SUITE(job_shares)

using namespace actorflow;
using test::deal_out_through;

SIMULATION_TEST(tasks_that_nothing_disturbs_have_all_records, seeds(1, 50)) { deal_out_through({}, 3); }

SIMULATION_TEST(tasks_that_are_lost_have_the_same_shares, seeds(1, 100)) {
  deal_out_through({FaultKind::kill, FaultKind::pause, FaultKind::partition}, 3);
}

SIMULATION_TEST(so_do_tasks_with_bad_disks, seeds(1, 100)) {
  deal_out_through({FaultKind::disk_errors, FaultKind::disk_full, FaultKind::kill, FaultKind::duplicate},
                   4);
}

BOOST_AUTO_TEST_CASE(a_share_that_is_lost_in_a_later_stage_is_made_again) {
  static int runs = 0, reached = 0;
  run_simulation_test(seeds(1, 100), [] {
    Point::take_all();
    test::lose_shares_later(3);
    ++runs;
    reached +=
        Point::take_all().at("what a task alone keeps is made again for the one in its place") > 0;
  });
  BOOST_TEST(reached == runs);  // or the runs say nothing
}

// Its program is at any stage of the job, or begins only, when that of the first task ends.
BOOST_AUTO_TEST_CASE(a_job_does_not_end_over_a_task_that_catches_up) {
  static int runs = 0, reached = 0, have_it = 0;
  run_simulation_test(seeds(1, 40), [] {
    Point::take_all();
    have_it += test::end_while_one_catches_up(3);
    ++runs;
    reached +=
        Point::take_all().at("a job that has ended waits for a task that gets what it alone keeps") > 0;
  });
  BOOST_TEST(reached > runs / 4);
  BOOST_TEST(have_it > runs / 2);
}

SIMULATION_TEST(a_share_whose_dataset_the_first_task_has_dropped_is_not_made_again, seeds(1, 20)) {
  BOOST_TEST(!test::end_while_one_catches_up(2, false));
}

BOOST_AUTO_TEST_SUITE_END()
