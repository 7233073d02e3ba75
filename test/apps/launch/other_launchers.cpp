// Hostile arguments by other launchers, which apps/launch/README.md names beside ours.
#include <boost/test/unit_test.hpp>

#include "test/apps/launch/support/hostile_texts.h"
#include "test/apps/support/open_mpi.h"
#include "test/apps/support/slurm.h"

BOOST_AUTO_TEST_SUITE(other_launchers)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

BOOST_AUTO_TEST_CASE(arguments_and_variables_arrive_byte_equal_by_mpirun,
                     *boost::unit_test::precondition(has_open_mpi)) {
  expect_hostile_texts_arrive([](const Words& variables, const Words& command) {
    return std::make_unique<Process>(Words{"/usr/bin/env"} + variables +
                                     with_mpirun(open_mpi, 1, command));
  });
}

BOOST_AUTO_TEST_CASE(arguments_and_variables_arrive_byte_equal_by_srun,
                     *boost::unit_test::precondition(has_slurm)) {
  const Slurm slurm;
  expect_hostile_texts_arrive([&slurm](const Words& variables, const Words& command) {
    return slurm.start(Words{"/usr/bin/env"} + variables + Words{"/usr/bin/srun", "-n", "1"} + command);
  });
}

BOOST_AUTO_TEST_SUITE_END()
