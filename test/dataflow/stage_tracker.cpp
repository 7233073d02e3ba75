#include "dataflow/jobs/stage_tracker.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(stage_tracker)

using namespace actorflow;

namespace {

constexpr int nowhere = StageTracker::nowhere;
constexpr std::size_t no_spare = 0;

bool any(std::size_t) { return true; }

StageTracker tracker_of(std::size_t parts, bool keeps = true) {
  return StageTracker(std::vector<int>(parts, nowhere), keeps);
}

PartAttempt start(StageTracker& tracker, int task, double now = 0) {
  const auto attempt = tracker.next(task, now, any, no_spare);
  BOOST_REQUIRE(attempt);
  return *attempt;
}

// Made by the task, in no time.
std::size_t make(StageTracker& tracker, int task, double began = 0, double ended = 0) {
  const auto attempt = start(tracker, task, began);
  BOOST_TEST(tracker.grant(attempt, task));
  BOOST_TEST(tracker.accept(attempt, task, ended));
  return attempt.part;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_stage_has_finished_when_each_part_is_made) {
  auto tracker = tracker_of(2);
  BOOST_TEST(make(tracker, 0) == 0u);
  BOOST_TEST(!tracker.finished());
  BOOST_TEST(make(tracker, 1) == 1u);
  BOOST_TEST(tracker.finished());
  BOOST_TEST(tracker.holder(0) == 0);
  BOOST_TEST(tracker.holder(1) == 1);
  BOOST_TEST(!tracker.next(0, 0, any, no_spare));
}

BOOST_AUTO_TEST_CASE(a_part_that_is_paused_waits_and_others_run) {
  auto tracker = tracker_of(2);
  const auto failed = start(tracker, 0);
  tracker.fail(failed, 0);
  tracker.pause(failed.part, 4);
  BOOST_TEST(start(tracker, 0).part == 1u);
  BOOST_TEST(!tracker.next(0, 3, any, no_spare));
  BOOST_TEST(tracker.has_pending());
  BOOST_TEST(!tracker.resume(3.9));
  BOOST_TEST(tracker.resume(4));
  BOOST_TEST(start(tracker, 0, 4).part == failed.part);
  BOOST_TEST(!tracker.has_pending());
}

BOOST_AUTO_TEST_CASE(a_large_part_may_take_longer_before_it_runs_twice) {
  std::vector<std::uint64_t> bytes(10, 1);
  bytes[0] = 91;  // 9.1 times the mean
  StageTracker tracker(std::vector<int>(10, nowhere), true, false, bytes);
  const auto large = start(tracker, 0);
  BOOST_TEST(large.part == 0u);
  for (int i = 0; i < 9; ++i) make(tracker, 1, 0, 2);
  BOOST_TEST(!tracker.backup(1, 54, 1));
  const auto second = tracker.backup(1, 55, 1);
  BOOST_REQUIRE(second);
  BOOST_TEST(second->part == 0u);
}

BOOST_AUTO_TEST_CASE(parts_go_home_first_then_where_others_have_more_than_they_need) {
  StageTracker tracker(std::vector<int>{1, nowhere, 0, 1, 1}, true);
  BOOST_TEST(start(tracker, 0).part == 2u);
  BOOST_TEST(start(tracker, 0).part == 1u);  // nowhere at home
  BOOST_TEST(!tracker.next(0, 0, any, 3));   // task 1 needs its three parts
  BOOST_TEST(tracker.next(0, 0, any, 2)->part == 0u);
  BOOST_TEST(start(tracker, 1).part == 3u);
}

BOOST_AUTO_TEST_CASE(a_part_that_runs_at_home_only_waits_for_no_other_task) {
  StageTracker tracker(std::vector<int>{0, 1, 2}, true, true);
  const auto start_own = [&tracker](std::size_t task) {
    const auto attempt = tracker.next(
        static_cast<int>(task), 0, [task](std::size_t part) { return part == task; }, no_spare);
    BOOST_REQUIRE(attempt);
    return *attempt;
  };
  start_own(1);
  tracker.lose_task(1);  // while its part runs
  tracker.lose_task(0);  // before
  BOOST_TEST(tracker.accept(start_own(2), 2, 0));
  tracker.lose_task(2);  // when it is made
  tracker.remake_lost();
  for (const std::size_t task : {2, 1, 0}) start_own(task);
  BOOST_TEST(!tracker.has_pending());
}

BOOST_AUTO_TEST_CASE(what_a_part_reads_must_be_there) {
  auto tracker = tracker_of(2);
  BOOST_TEST(!tracker.next(
      0, 0, [](std::size_t) { return false; }, no_spare));
  BOOST_TEST(tracker.has_pending());
  BOOST_TEST(start(tracker, 0).part == 0u);
}

BOOST_AUTO_TEST_CASE(one_attempt_of_a_part_counts) {
  auto tracker = tracker_of(10);
  for (int part = 0; part < 9; ++part) make(tracker, 0, 0, 1);
  const auto slow = start(tracker, 0, 1);
  const auto second = tracker.backup(1, 100, 1);
  BOOST_REQUIRE(second);
  BOOST_TEST(second->part == slow.part);
  BOOST_TEST(tracker.grant(*second, 1));
  BOOST_TEST(!tracker.grant(slow, 0));
  BOOST_TEST(tracker.accept(*second, 1, 101));
  BOOST_TEST(!tracker.accept(slow, 0, 101));
  BOOST_TEST(tracker.holder(slow.part) == 1);
  BOOST_TEST(tracker.finished());
}

BOOST_AUTO_TEST_CASE(only_what_takes_far_longer_than_others_runs_twice) {
  auto tracker = tracker_of(10);
  for (int part = 0; part < 8; ++part) make(tracker, 0, 0, 1);
  const auto ninth = start(tracker, 0, 0), tenth = start(tracker, 0, 0);
  BOOST_TEST(!tracker.backup(1, 100, 1));  // nine of ten have to be made
  BOOST_TEST(tracker.accept(ninth, 0, 1));
  BOOST_TEST(!tracker.backup(1, 2.9, 1));  // thrice the median is 3 s
  BOOST_TEST(!tracker.backup(0, 100, 1));  // not where it runs already
  BOOST_TEST(!tracker.backup(1, 100, 0));
  const auto second = tracker.backup(1, 3.1, 1);
  BOOST_REQUIRE(second);
  BOOST_TEST((second->part == tenth.part && second->attempt == 1u));
  BOOST_TEST(!tracker.backup(2, 100, 2));  // it runs twice, not thrice
}

BOOST_AUTO_TEST_CASE(a_failed_part_comes_first_and_is_counted) {
  auto tracker = tracker_of(3);
  const auto first = start(tracker, 0);
  BOOST_TEST(tracker.fail(first, 0) == 1u);
  BOOST_TEST(tracker.fail(first, 0) == 1u);  // it runs no longer
  const auto again = start(tracker, 1);
  BOOST_TEST((again == PartAttempt{first.part, 1}));
  BOOST_TEST(tracker.fail(again, 1) == 2u);
  const auto third = start(tracker, 0);
  tracker.give_back(third, 0);
  BOOST_TEST(tracker.fail(start(tracker, 0), 0) == 3u);  // what was given back did not fail
}

BOOST_AUTO_TEST_CASE(a_lost_task_takes_along_what_it_holds_and_what_it_runs) {
  StageTracker tracker(std::vector<int>{0, 0, 0, 1}, true);
  make(tracker, 0);
  const auto running = start(tracker, 0);
  BOOST_TEST(tracker.runs().size() == 1u);
  BOOST_TEST(tracker.lose_task(0) == 1u);
  BOOST_TEST(tracker.runs().empty());
  BOOST_TEST(!tracker.is_made(0));
  BOOST_TEST(tracker.holder(0) == nowhere);
  BOOST_TEST(!tracker.accept(running, 0, 0));
  BOOST_TEST(start(tracker, 1).part == running.part);  // what had begun comes first
  BOOST_TEST(start(tracker, 1).part == 3u);
  BOOST_TEST(start(tracker, 1).part == 2u);  // its home is gone
  BOOST_TEST(!tracker.next(1, 0, any, no_spare));
  tracker.remake_lost();
  BOOST_TEST(start(tracker, 1).part == 0u);
}

BOOST_AUTO_TEST_CASE(results_are_not_lost_with_their_task) {
  auto tracker = tracker_of(1, false);
  make(tracker, 0);
  BOOST_TEST(tracker.lose_task(0) == 0u);
  BOOST_TEST(tracker.finished());
}

BOOST_AUTO_TEST_CASE(only_those_lost_parts_run_again_that_are_wanted) {
  auto tracker = tracker_of(3);
  for (int part = 0; part < 3; ++part) make(tracker, 0);
  BOOST_TEST(!tracker.lose_part(1, 1));  // another task's copy
  BOOST_TEST(tracker.finished());
  BOOST_TEST(tracker.lose_task(0) == 3u);
  tracker.remake_lost([](std::size_t part) { return part == 1; });
  BOOST_TEST(tracker.lost() == 2u);
  BOOST_TEST(make(tracker, 1) == 1u);
  BOOST_TEST(!tracker.has_pending());
  tracker.remake_lost();
  BOOST_TEST(make(tracker, 1) == 0u);
  BOOST_TEST(make(tracker, 1) == 2u);
  BOOST_TEST(tracker.finished());
}

BOOST_AUTO_TEST_CASE(parts_of_an_earlier_run_need_not_run) {
  auto kept = tracker_of(2), made = tracker_of(2, false);
  for (auto* tracker : {&kept, &made}) {
    tracker->skip(0);
    BOOST_TEST(make(*tracker, 0) == 1u);
    BOOST_TEST(!tracker->has_pending());
  }
  BOOST_TEST(made.finished());
  BOOST_TEST(!kept.finished());  // what it has handed over is on no task
  kept.remake_lost();
  BOOST_TEST(make(kept, 0) == 0u);
  BOOST_TEST(kept.finished());
}

BOOST_AUTO_TEST_CASE(the_oldest_attempt_is_known) {
  auto tracker = tracker_of(2);
  BOOST_TEST(!tracker.oldest_run());
  const auto first = start(tracker, 1, 5);
  start(tracker, 0, 7);
  BOOST_TEST((tracker.oldest_run()->attempt == first));
  BOOST_TEST(tracker.oldest_run()->task == 1);
}

BOOST_AUTO_TEST_CASE(a_part_whose_failures_are_forgotten_has_as_many_tries_again) {
  auto tracker = tracker_of(1);
  BOOST_TEST(tracker.fail(start(tracker, 0), 0) == 1u);
  BOOST_TEST(tracker.fail(start(tracker, 0), 0) == 2u);
  tracker.forget_failures(0);
  const auto again = start(tracker, 0);
  BOOST_TEST(again.attempt == 2u, "no attempt has the number of another one");
  BOOST_TEST(tracker.fail(again, 0) == 1u);
}

// Its second attempt was not told yet that it is of no use.
BOOST_AUTO_TEST_CASE(a_lost_part_that_still_runs_is_made_by_that_attempt) {
  auto tracker = tracker_of(2);
  make(tracker, 0);
  const auto slow = start(tracker, 0);
  const auto second = tracker.backup(1, 100, 1);
  BOOST_REQUIRE(second);
  BOOST_TEST(tracker.accept(slow, 0, 100));
  BOOST_TEST(tracker.lose_part(slow.part, 0));
  BOOST_TEST(tracker.lost() == 1u);
  BOOST_TEST(tracker.accept(*second, 1, 100));
  BOOST_TEST(tracker.lost() == 0u);
  BOOST_TEST(tracker.holder(slow.part) == 1);
  tracker.remake_lost();
  BOOST_TEST(!tracker.has_pending());
  BOOST_TEST(tracker.finished());
}

BOOST_AUTO_TEST_SUITE_END()
