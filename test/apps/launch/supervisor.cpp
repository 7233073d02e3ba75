// `actorflow supervise` as a process.
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>

#include "apps/launch/growing_pause.h"
#include "test/apps/launch/support/launched.h"

BOOST_AUTO_TEST_SUITE(supervisor)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Words = std::vector<std::string>;

Words supervise(const std::string& pause, const std::string& script) {
  return {"actorflow", "supervise", "--pause", pause, "/bin/sh", "-c", script};
}

// Test programs run side by side.
std::string own_mark() { return "supervised" + std::to_string(getpid()); }

Words marked(Words command) {
  command[0] = ACTORFLOW_BIN_DIR "/actorflow";
  command.insert(command.begin(), {"/usr/bin/env", "ACTORFLOW_TEST_MARK=" + own_mark()});
  return command;
}

std::ptrdiff_t num_lines(const std::string& path) {
  const std::string text = read_file(path);
  return std::ranges::count(text, '\n');
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_program_that_fails_or_is_killed_is_started_again) {
  const Folder folder;
  Process process(supervise("0", "echo run >> " + folder.file("runs") + "; case $(wc -l < " +
                                     folder.file("runs") + ") in 1) exit 1;; 2) kill -9 $$;; esac"));
  BOOST_TEST(process.wait() == 0);
  BOOST_TEST(process.output() ==
             "supervise: /bin/sh ended with status 1; starting it again\n"
             "supervise: /bin/sh ended with status 137; starting it again\n");
  BOOST_TEST(num_lines(folder.file("runs")) == 3);
}

BOOST_AUTO_TEST_CASE(the_pause_doubles_up_to_the_longest_and_a_run_that_lasts_ends_that) {
  using std::chrono::milliseconds;
  const auto after = [](GrowingPause& pause, int run_ms) {
    return pause.after(milliseconds(run_ms)).count();
  };
  GrowingPause pause(milliseconds(100), milliseconds(350));
  for (const int expected : {100, 200, 350, 350}) BOOST_TEST(after(pause, 349) == expected);
  BOOST_TEST(after(pause, 350) == 100);
  BOOST_TEST(after(pause, 0) == 200);
  GrowingPause long_first(milliseconds(500), milliseconds(100)),
      none(milliseconds(0), milliseconds(350));
  for (int run = 0; run < 3; ++run) {
    BOOST_TEST(after(long_first, 0) == 500);
    BOOST_TEST(after(none, 0) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_run_is_started_ever_more_rarely) {
  Process process({"actorflow", "supervise", "--pause", "0.01", "--longest_pause", "3600", "/bin/sh",
                   "-c", "exit 1"});
  for (const char* pause : {"0.01", "0.02", "0.04", "0.08"})
    BOOST_TEST(
        process.prints(std::string("ended with status 1; starting it again in ") + pause + " s\n"));
  process.send_signal(SIGTERM);
  BOOST_TEST(process.wait() != 0);
}

BOOST_AUTO_TEST_CASE(what_another_try_would_not_change_ends_it) {
  for (const int status : {0, 2, 130}) {
    const Folder folder;
    Process process(
        supervise("0", "echo run >> " + folder.file("runs") + "; exit " + std::to_string(status)));
    BOOST_TEST(process.wait() == status);
    BOOST_TEST(num_lines(folder.file("runs")) == 1);
  }
}

BOOST_AUTO_TEST_CASE(signals_end_the_program_and_then_it) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Process process(supervise("0", "trap 'exit 9' TERM; echo began; while :; do sleep 0.01; done"));
    BOOST_REQUIRE(process.prints("began"));
    process.send_signal(signal);
    BOOST_TEST(process.wait() == 9);
  }
  Process stubborn(supervise("0", "trap 'echo no' TERM; echo began; while :; do sleep 0.01; done"));
  BOOST_REQUIRE(stubborn.prints("began"));
  stubborn.send_signal(SIGTERM);
  BOOST_REQUIRE(stubborn.prints("no\n"));
  stubborn.send_signal(SIGTERM);
  BOOST_TEST(stubborn.wait() == 137);
  Process resting(supervise("3600", "exit 1"));
  BOOST_REQUIRE(resting.prints("starting it again"));
  resting.send_signal(SIGTERM);
  BOOST_TEST(resting.wait() == 143);
}

BOOST_AUTO_TEST_CASE(the_program_does_not_outlive_it) {
  Process process(marked(supervise("0", "echo began; exec sleep 1000")));
  BOOST_REQUIRE(process.prints("began"));
  expect_marked(own_mark(), 2);
  process.send_signal(SIGKILL);
  expect_marked(own_mark(), 0);
}

BOOST_AUTO_TEST_CASE(nor_does_what_the_program_has_started) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Process process(marked(supervise("0", "echo began; sleep 1000; true")));
    BOOST_REQUIRE(process.prints("began"));
    expect_marked(own_mark(), 3);
    process.send_signal(signal);
    BOOST_TEST(process.wait() == 143);
    expect_marked(own_mark(), 0);
  }
}

// As of a script that does not exec its program: the shell ends first.
BOOST_AUTO_TEST_CASE(what_the_program_has_started_has_time_to_end) {
  Process saving(marked(supervise(
      "0",
      "(trap 'sleep 0.5; echo saved; exit' TERM; echo began; while :; do sleep 0.01; done) & wait")));
  BOOST_REQUIRE(saving.prints("began"));
  saving.send_signal(SIGTERM);
  BOOST_TEST(saving.wait() == 143);
  expect(saving.output(), "saved");
  Process stubborn(marked(supervise("0", "(trap '' TERM; echo began; sleep 1000) & wait")));
  BOOST_REQUIRE(stubborn.prints("began"));
  stubborn.send_signal(SIGTERM);
  BOOST_TEST(stubborn.wait() == 143);
  expect_marked(own_mark(), 0);
}

BOOST_AUTO_TEST_CASE(a_run_leaves_nothing_to_the_next_one) {
  const Folder folder;
  Process process(marked(supervise("0", "test -e " + folder.file("second") +
                                            " && echo again && exec sleep 1000; touch " +
                                            folder.file("second") + "; sleep 1000 & exit 1")));
  BOOST_REQUIRE(process.prints("again"));
  expect_marked(own_mark(), 2);
  process.send_signal(SIGTERM);
  BOOST_TEST(process.wait() == 143);
  expect_marked(own_mark(), 0);
}

BOOST_AUTO_TEST_CASE(arguments_are_the_programs) {
  Process process({"actorflow", "supervise", "/bin/echo", "--pause", "-d", "--", "--help"});
  BOOST_TEST(process.wait() == 0);
  BOOST_TEST(process.output() == "--pause -d -- --help\n");
}

BOOST_AUTO_TEST_CASE(mistakes_say_what_was_expected) {
  const auto refused = [](const Words& arguments, int status, const std::string& words) {
    Words command{"actorflow", "supervise"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Process process(command);
    BOOST_TEST(process.wait() == status);
    expect(process.output(), words);
  };
  refused({}, 2, "expected the program to supervise");
  refused({"--pouse", "1", "true"}, 2, "supervise has no option --pouse; see actorflow help supervise");
  refused({"--pause", "-1", "true"}, 2, "--pause");
  refused({"/nowhere/program"}, 1, "the program '/nowhere/program' is not there");
}

BOOST_AUTO_TEST_SUITE_END()
