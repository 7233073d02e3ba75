#include <boost/test/unit_test.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(plans)

using namespace actorflow;
using test::has;
using test::small_parts;

BOOST_AUTO_TEST_CASE(a_plan_that_is_explained_runs_nothing) {
  JobOptions options = small_parts();
  options.explain = true;
  Job job(options);
  const auto counts = job.from(std::vector<std::string>{"a"})
                          .map([](const std::string& text) -> std::pair<std::string, std::int64_t> {
                            throw std::runtime_error("ran on " + text);
                          })
                          .reduce_by_key(std::plus<>());
  BOOST_CHECK_THROW(counts.write_csv("nowhere"), PlanIsComplete);
  const std::string text = to_text(job.plan());
  BOOST_TEST(text.find("stage 1\n  from at plans.cpp:") == 0u, text);
  BOOST_TEST(text.find("map at plans.cpp") != text.npos);
  BOOST_TEST(text.find("-> pair<string,int64>\n  gives a shuffle by key, combined, in 1 partition\n") !=
             text.npos);
  BOOST_TEST(text.find("stage 2, reads stage 1\n  reduce_by_key") != text.npos);
  BOOST_TEST(text.find("gives files in 'nowhere'") != text.npos);
}

BOOST_AUTO_TEST_CASE(a_plan_may_be_complete_before_the_job_asks_for_its_output) {
  const JobFunction counts_and_writes = [](Job& job) {
    const auto numbers = job.from(std::vector{1, 2, 3});
    if (numbers.count() > 0) numbers.write_csv(job.param("output"));
  };
  JobOptions options = small_parts();
  options.explain = true;
  options.parameters = {{"output", "nowhere"}};
  Job job(options);
  run_function(job, counts_and_writes);
  BOOST_TEST(job.plan().size() == 1u);

  options.parameters["colour"] = "red";
  Job coloured(options);
  BOOST_TEST(has(test::status_of([&] { run_function(coloured, counts_and_writes); }),
                 "--colour was given, but the job does not ask for it"));
}

BOOST_AUTO_TEST_CASE(a_plan_says_how_much_there_is_to_read_and_how_it_is_divided) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), std::string(4999, 'x') + "\n");
  JobOptions options = small_parts();
  options.explain = true;
  Job job(options);
  const auto lines = job.read_text(folder.file("in.txt")).key_by([](auto line) { return line.size(); });
  BOOST_CHECK_THROW(lines.join(lines).count_by_key().count(), PlanIsComplete);
  const std::string text = to_text(job.plan());
  BOOST_TEST(text.find("stage 1, 5 parts of 5000 bytes in all\n  read_text") == 0u, text);
  BOOST_TEST(text.find("gives a shuffle by key, in 5 partitions\nstage 2") != text.npos, text);
  BOOST_TEST(text.find("gives a shuffle by key, combined\n") != text.npos, text);  // nobody knows yet
  BOOST_TEST(to_dot(job.plan()).find("a shuffle by key, in 5 partitions") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_sample_is_taken_for_a_plan_that_is_explained) {
  JobOptions options = small_parts();
  options.explain = true;
  options.partitions = 4;
  Job job(options);
  const auto pairs = job.from(std::vector<std::string>{"a", "b"})
                         .map([](const std::string& text) -> std::pair<std::string, int> {
                           throw std::runtime_error("ran on " + text);
                         });
  BOOST_CHECK_THROW(pairs.sort_by([](const auto& pair) { return pair.first; }).count(), PlanIsComplete);
  BOOST_CHECK_THROW(pairs.join(pairs).count(), PlanIsComplete);
}

BOOST_AUTO_TEST_SUITE_END()
