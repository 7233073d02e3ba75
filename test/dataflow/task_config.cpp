#include "dataflow/cluster/task_config.h"

#include <boost/test/unit_test.hpp>

#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(task_config)

using namespace actorflow;
using test::invalid_with;

namespace {

TaskConfig config_of(const TaskName& task, int tasks_per_replica) {
  return TaskConfig::make({{"chief", {{0, "c:1"}}}, {"worker", {{0, "w:1"}, {1, "w:2"}, {2, "w:3"}}}},
                          task)
      .grouped(tasks_per_replica);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_task_of_a_group_runs_its_replica) {
  const TaskConfig chief = config_of({"chief", 0}, 2);
  BOOST_TEST(chief.replicas == (std::vector<TaskName>{{"chief", 0}, {"worker", 1}}));
  BOOST_TEST(chief.is_chief());
  BOOST_TEST(config_of({"worker", 0}, 2).replica == -1);
  BOOST_TEST(config_of({"worker", 1}, 2).replica == 1);
  BOOST_TEST(config_of({"worker", 2}, 2).replica == -1);
  BOOST_TEST(config_of({"worker", 2}, 1).replica == 3);
}

BOOST_AUTO_TEST_CASE(groups_that_leave_tasks_over_are_refused_with_both_numbers) {
  BOOST_CHECK_EXCEPTION(config_of({"chief", 0}, 3), Error,
                        invalid_with({"the 4 tasks that train cannot be divided into groups of 3"}));
}

BOOST_AUTO_TEST_SUITE_END()
