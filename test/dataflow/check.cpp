// What a broken invariant does.
#include "dataflow/values/check.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "dataflow/graph/subgraph.h"
#include "dataflow/train/pipeline_schedule.h"
#include "dataflow/values/shape.h"
#include "test/support/crash.h"

BOOST_AUTO_TEST_SUITE(check)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(a_condition_that_holds_evaluates_no_value) {
  int evaluated = 0;
  ACTORFLOW_CHECK(evaluated == 0, ++evaluated);
  BOOST_TEST(evaluated == 0);
}

BOOST_AUTO_TEST_CASE(a_broken_invariant_ends_the_process_and_says_where_and_with_which_values) {
  const Death death = death_of([] {
    const std::string name = "weights";
    const int rows = 3;
    ACTORFLOW_CHECK(rows > 5, "only", rows, "rows of", name, "at", 0.5);
  });
  BOOST_TEST(death.signal == SIGABRT);
  const std::string line = std::to_string(__LINE__ - 3);
  BOOST_TEST(death.said == "test/dataflow/check.cpp:" + line +
                               ": broken invariant: rows > 5: only 3 rows of weights at 0.500000\n");
}

BOOST_AUTO_TEST_CASE(values_may_be_left_out) {
  const Death death = death_of([] { ACTORFLOW_CHECK(1 + 1 == 3); });
  BOOST_TEST(death.signal == SIGABRT);
  BOOST_TEST(death.said.ends_with("broken invariant: 1 + 1 == 3\n"), death.said);
}

BOOST_AUTO_TEST_CASE(a_shape_is_not_read_beyond_its_rank) {
  const Shape shape{2, 3};
  for (const int axis : {-1, 2}) {
    const Death death = death_of([&] { static_cast<void>(shape[axis]); });
    BOOST_TEST(death.signal == SIGABRT);
    BOOST_TEST(death.said.find("axis " + std::to_string(axis) + " of rank 2") != std::string::npos,
               death.said);
  }
  BOOST_TEST(death_of([] { static_cast<void>(Shape{2, Shape::unknown}.elements()); }).signal == SIGABRT);
}

BOOST_AUTO_TEST_CASE(what_graphs_and_schedules_require_is_checked_with_its_values) {
  const auto says = [](const std::function<void()>& body, const std::string& values) {
    const Death death = death_of(body);
    BOOST_TEST(death.signal == SIGABRT);
    BOOST_TEST(death.said.find(values) != std::string::npos, death.said);
  };
  says([] { Shape::unknown_rank().push_back(7); }, "dimension 7 of a shape of unknown rank");
  says([] { common_type({DType::float32, {2}}, {DType::int32, {2}}); }, "float32[2] and int32[2]");
  says([] { pipeline_passes(PipelineSchedule::gpipe, 0, 4); }, "0 stages, 4 micro-batches");
}

BOOST_AUTO_TEST_SUITE_END()
