#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(parameters)

using namespace actorflow;
using test::has;
using test::small_parts;

BOOST_AUTO_TEST_CASE(a_number_of_things_is_one_at_least) {
  JobOptions options = small_parts();
  options.parameters = {{"k", "0"}, {"epochs", "-1"}, {"rows", "many"}};
  const Job job(options);
  BOOST_TEST(test::error_of([&] { job.count_param("k", 3); }) == "--k: expected 1 or more, got 0");
  BOOST_TEST(test::error_of([&] { job.count_param("epochs", 3); }) ==
             "--epochs: expected 1 or more, got -1");
  BOOST_TEST(test::error_of([&] { job.count_param("rows", 3); }) ==
             "--rows: expected a whole number (int64), got 'many'");
  BOOST_TEST(job.count_param("parts", 3) == 3);
}

BOOST_AUTO_TEST_CASE(a_rate_is_finite_and_not_below_0) {
  JobOptions options = small_parts();
  options.parameters = {{"a", "-0.5"}, {"b", "nan"}, {"c", "inf"}, {"d", "fast"}, {"e", "0"}};
  const Job job(options);
  const auto mistake = [&](const char* name) {
    return test::error_of([&] { job.rate_param(name, 0.1); });
  };
  BOOST_TEST(mistake("a") == "--a: expected a number of 0 or more, got -0.5");
  BOOST_TEST(mistake("b") == "--b: expected a number of 0 or more, got nan");
  BOOST_TEST(mistake("c") == "--c: expected a number of 0 or more, got inf");
  BOOST_TEST(mistake("d") == "--d: expected a number, got 'fast'");
  BOOST_TEST(job.rate_param("e", 0.1) == 0);
  BOOST_TEST(job.rate_param("f", 0.1) == 0.1);
}

BOOST_AUTO_TEST_CASE(parameters_are_asked_for_by_name_and_others_refused) {
  JobOptions options = small_parts();
  options.parameters = {{"k", "12"}, {"rate", "0.5"}, {"kk", "1"}, {"n", "many"}};
  Job job(options);
  BOOST_TEST(job.param<std::size_t>("k", 3) == 12u);
  BOOST_TEST(job.param("rate", 0.1) == 0.5);
  BOOST_TEST(job.param("other", 7) == 7);
  BOOST_TEST(job.count_param("k", 3) == 12);
  BOOST_TEST(has(test::status_of([&] { job.param("n", 1); }),
                 "--n: expected a whole number (int32), got 'many'"));
  BOOST_TEST(has(test::status_of([&] { job.param<std::size_t>("n", 1); }),
                 "--n: expected a whole number of 0 or more (uint64), got 'many'"));
  BOOST_TEST(has(test::status_of([&] { job.param("input"); }), "the job wants --input"));
  const Status status = test::status_of([&] { job.from(std::vector{1}).count(); });
  BOOST_TEST(has(status,
                 "--kk was given, but the job does not ask for it; did you mean '--k'? It asks for --k, "
                 "--rate, --other, --n, --input"),
             status.message);
}

BOOST_AUTO_TEST_CASE(a_misspelt_parameter_is_refused_before_anything_runs) {
  const test::Folder folder;
  test::write_file(folder.file("in"), "1\n");
  std::filesystem::create_directory(folder.file("out"));
  test::write_file(folder.file("out/part-00000-of-00001.txt"), "of an earlier job");
  JobOptions options = small_parts();
  options.overwrite = true;
  options.parameters = {{"input", folder.file("in")}, {"rouds", "3"}};
  std::atomic<int> lines = 0;
  Job job(options);
  const auto all = job.read_text(job.param("input")).map([&lines](std::string_view line) {
    ++lines;
    return line;
  });
  job.param("rounds", 10);
  const std::string why = "--rouds was given, but the job does not ask for it; did you mean '--rounds'?";
  BOOST_TEST(has(test::status_of([&] { all.write_text(folder.file("out")); }), why));
  BOOST_TEST(has(test::status_of([&] { all.count(); }), why));
  BOOST_TEST(lines == 0);
  BOOST_TEST(test::files_of(folder.file("out")).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_misspelt_parameter_is_named_where_it_is_wanted) {
  JobOptions options = small_parts();
  options.parameters = {{"inptu", "in"}, {"k", "3"}};
  Job job(options);
  const Status status = test::status_of([&] { job.param("input"); });
  BOOST_TEST(has(status, "--inptu was given, for which the job has not asked; did you mean '--input'?"),
             status.message);
}

// The output may come later: records.top(10).write_csv(job.param("output")).
BOOST_AUTO_TEST_CASE(a_job_asks_for_all_parameters_but_its_output_before_its_first_result) {
  JobOptions options = small_parts();
  options.parameters = {{"output", "out"}};
  Job job(options);
  job.param("k", 3);
  BOOST_TEST(job.from(std::vector{1}).count() == 1u);
  BOOST_TEST(job.param("output") == "out");
  BOOST_TEST(job.param("k", 3) == 3);
  const Status status = test::status_of([&] { job.param("rounds", 10); });
  BOOST_TEST((status.code == Code::failed_precondition));
  BOOST_TEST(has(status, "--rounds is asked for when the job has a result already"), status.message);
}

BOOST_AUTO_TEST_SUITE_END()
