// What a process says that crashes in a function of a job.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <vector>

#include "test/jobs/support/test_job.h"
#include "test/support/crash.h"

BOOST_AUTO_TEST_SUITE(crashes)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(a_crash_in_a_function_names_the_part_and_its_stage) {
  const test::Death death = test::death_of([] {
    Job job(test::small_parts());
    job.from(std::vector{1, 2, 3})
        .map([](int number) {
          if (number == 2) std::raise(SIGFPE);
          return number;
        })
        .count();
  });
  BOOST_TEST(death.signal == SIGFPE);
  BOOST_TEST(death.said.find("while it computed part 0 of the stage 'from, map") != std::string::npos,
             death.said);
}

BOOST_AUTO_TEST_SUITE_END()
