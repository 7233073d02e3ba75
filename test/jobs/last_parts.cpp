// Parts that still run when their stage has failed, or the job is stopped: they are waited for, and
// named.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/jobs/support/test_job.h"
#include "test/support/log_lines.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(last_parts)

using namespace actorflow;

namespace {

// Of two parts the first ends the stage once the second runs, whose function returns when the log has
// said that it is waited for.
Status end_while_one_runs(test::LogLines& log, const std::function<void(const Job&)>& end) {
  std::promise<void> begun;
  const Job job(test::small_parts());
  return test::status_of([&] {
    job.from(std::vector<int>{0, 1}, 2)
        .map([&](int number) {
          if (number == 0) {
            begun.get_future().wait();
            end(job);
          } else {
            begun.set_value();
            log.come_to_say("whose function has yet to return");
          }
          return number;
        })
        .count();
  });
}

void check_said(test::LogLines& log, const std::vector<std::string>& texts) {
  const std::string said = log.all();
  for (const auto& text : texts) BOOST_TEST(said.find(text) != said.npos, said);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_part_that_runs_when_another_has_failed_is_named) {
  test::LogLines log;
  const Status status =
      end_while_one_runs(log, [](const Job&) { throw std::runtime_error("the first is bad"); });
  BOOST_TEST((status.code == Code::unknown), status.to_string());
  check_said(log,
             {"the stage ends, because from, map, count: part 0 of 2: map at last_parts.cpp:",
              "the first is bad; waited ", " s for part 1 of 2 of from, map, count at this process"});
}

// As by Ctrl-C.
BOOST_AUTO_TEST_CASE(a_part_that_runs_when_the_job_is_stopped_is_named) {
  test::LogLines log;
  const Status status = end_while_one_runs(log, [](const Job& job) { job.stop(); });
  BOOST_TEST((status.code == Code::cancelled), status.to_string());
  check_said(log, {"the stage ends, because ", "the job was stopped; waited ",
                   " s for part 1 of 2 of from, map, count at this process"});
}

BOOST_AUTO_TEST_SUITE_END()
