// Ctrl-C amid training, again and again: the end of a process waits for what still runs in it.
#include <boost/test/unit_test.hpp>
#include <csignal>

#include "test/apps/support/process.h"
#include "test/support/contains.h"

BOOST_AUTO_TEST_SUITE(ctrl_c)

BOOST_AUTO_TEST_CASE(amid_steps_it_ends_the_process_as_interrupted) {
  constexpr int rounds = 25;
  for (int round = 0; round < rounds; ++round) {
    actorflow::test::Process process({"actorflow", "train", "mnist",
                                      round % 2 == 0 ? "--async" : "--sync", "--ps", "2", "--workers", "3",
                                      "--train-steps", "1000000"});
    BOOST_REQUIRE_MESSAGE(process.prints("step "), process.output());
    process.send_signal(SIGINT);
    BOOST_TEST(process.wait() == 130, "round " << round << ":\n" << process.output());
    BOOST_TEST(actorflow::test::contains(process.output(), "lost, since there is no --checkpoint_dir"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
