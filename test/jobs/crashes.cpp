// What a process says that crashes in a function of a job.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <vector>

#include "test/jobs/support/test_job.h"
#include "test/support/crash.h"

BOOST_AUTO_TEST_SUITE(crashes)

using namespace actorflow;

namespace {

void crash_at_the_second_record() {
  Job job(test::small_parts());
  job.from(std::vector{1, 2, 3})
      .map([](int number) {
        if (number == 2) std::raise(SIGFPE);
        return number;
      })
      .count();
}

}  // namespace

// In a process of its own: tests that ran before have left threads, which a copy of this one would lack.
BOOST_AUTO_TEST_CASE(a_crash_in_a_function_names_the_part_and_its_stage) {
  if (test::is_child()) return crash_at_the_second_record();
  const test::Death death =
      test::death_of_case("crashes/a_crash_in_a_function_names_the_part_and_its_stage");
  BOOST_TEST(death.signal == SIGFPE);
  BOOST_TEST(death.said.find("while it computed part 0 of the stage 'from, map") != std::string::npos,
             death.said);
}

BOOST_AUTO_TEST_SUITE_END()
