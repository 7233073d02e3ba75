// What a task's recorder keeps, in its order, and counts.
#include "actors/core/task_recorder.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "actors/runtime/clock.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(task_recorder)

using namespace actorflow;

namespace {

struct Recorded {
  Recorded() {
    task.tasks = {TaskName{"worker", 0}};
    task.clock = &steady_clock();
  }
  void send(std::int64_t from, std::int64_t to) {
    for (auto step = from; step < to; ++step)
      recorder.sent(TaskId{}, AbortStep{static_cast<std::uint64_t>(step), {}});
  }

  TaskContext task;
  TaskRecorder recorder{task};
};

bool is_from_0_on(const TaskRecord& record) {
  for (std::size_t i = 0; i < record.events.size(); ++i)
    if (record.events[i].step != i) return false;
  return true;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(nothing_is_kept_while_it_is_off, Recorded) {
  send(0, 3);
  recorder.ran(1, {});
  recorder.begin();
  BOOST_TEST((test::status_of([this] { recorder.begin(); }).code == Code::unavailable));
  const TaskRecord record = recorder.take();
  BOOST_TEST(record.events.size() == 0u);
  BOOST_TEST(record.dropped == 0);
}

BOOST_FIXTURE_TEST_CASE(events_stay_in_their_order_and_those_beyond_the_most_are_counted, Recorded) {
  constexpr auto most = static_cast<std::int64_t>(max_task_events);
  recorder.begin();
  send(0, most + 5);
  const TaskRecord record = recorder.take();
  BOOST_TEST(record.events.size() == max_task_events);
  BOOST_TEST(is_from_0_on(record));
  BOOST_TEST(record.dropped == 5);
  recorder.begin();  // anew
  send(0, 7);
  const TaskRecord next = recorder.take();
  BOOST_TEST(next.events.size() == 7u);
  BOOST_TEST(is_from_0_on(next));
  BOOST_TEST(next.dropped == 0);
}

BOOST_FIXTURE_TEST_CASE(parts_that_began_before_are_left_out, Recorded) {
  recorder.begin();
  recorder.ran(1, {});
  const auto now_us = recorder.clock().begin_us;
  TaskTrace part;
  part.start_us = part.end_us = now_us;
  recorder.ran(2, part);
  const TaskRecord record = recorder.take();
  BOOST_REQUIRE(record.events.size() == 1u);
  BOOST_TEST(record.events[0].step == 2u);
  BOOST_TEST(record.dropped == 0);
}

BOOST_AUTO_TEST_SUITE_END()
