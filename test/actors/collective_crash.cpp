// A crash in the arithmetic of a collective operation.
#include <boost/test/unit_test.hpp>

#include "actors/collectives/communicator.h"
#include "test/actors/support/ranks.h"
#include "test/support/crash.h"
#include "test/support/sanitized.h"
#include "test/support/strange_memory.h"

BOOST_AUTO_TEST_SUITE(collective_crash)

using namespace actorflow;
using test::Ranks;

namespace {

// A sanitizer reports crashes by itself.
boost::test_tools::assertion_result reports(boost::unit_test::test_unit_id) { return !test::sanitized; }

}  // namespace

// What the next case runs in a process of its own.
BOOST_AUTO_TEST_CASE(child) {
  if (!test::is_child()) return;
  test::Nowhere nowhere;
  const Tensor values = Tensor::allocate(DType::float32, {1000}, nowhere);
  Ranks(1).run([&](Communicator& world) { world.all_reduce(values, {.prescale = 2}); });
}

BOOST_AUTO_TEST_CASE(a_crash_in_its_arithmetic_names_operation_and_task,
                     *boost::unit_test::precondition(reports)) {
  const test::Death death = test::death_of_case("collective_crash/child");
  BOOST_TEST(death.signal == SIGSEGV);
  const std::string named = "computed the collective operation all_reduce float32[1000]";
  BOOST_TEST(death.said.find(named) != std::string::npos, death.said);
}

BOOST_AUTO_TEST_SUITE_END()
