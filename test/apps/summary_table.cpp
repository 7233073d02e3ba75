// Event files in the terminal.
#include "apps/cli/summary_table.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <csignal>
#include <limits>

#include "actors/events/event_writer.h"
#include "apps/cli/sparkline.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(summary_table)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Event scalar(std::int64_t step, double value) {
  return {0, step, std::vector<Summary>{{"loss", ScalarSummary{value}}}};
}

bool contains(const std::string& text, const std::string& part) {
  BOOST_TEST_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_sparkline_goes_from_the_smallest_to_the_largest) {
  BOOST_TEST(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8) == "▁▂▃▄▅▆▇█");
  BOOST_TEST(sparkline(std::vector<double>{0, 2, 10, 12}, 2) == "▁█");
  BOOST_TEST(sparkline(std::vector<double>{3, 3}, 8) == "▄▄");
  BOOST_TEST(sparkline(std::vector<double>{}, 8).empty());
}

BOOST_AUTO_TEST_CASE(a_sparkline_takes_any_number) {
  const double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(sparkline(std::vector<double>{-1e308, std::nan(""), 1e308, infinity}, 8) == "▁?█?");
}

BOOST_AUTO_TEST_CASE(a_row_has_points_last_step_last_value_and_range) {
  SummaryTable table;
  table.add(scalar(10, 4));
  table.add(scalar(20, std::nan("")));
  table.add(scalar(30, 2));
  BOOST_TEST(contains(table.to_string(), "loss        3         30  2           2 to 4  █?▁"));
  BOOST_TEST(!contains(table.to_string("accuracy"), "loss"));
}

BOOST_AUTO_TEST_CASE(a_long_course_keeps_its_ends) {
  SummaryTable table;
  for (int step = 0; step < 100'000; ++step) table.add(scalar(step, step));
  const std::string text = table.to_string();
  BOOST_TEST(contains(text, "0 to 1e+05  ▁"));
  BOOST_TEST(contains(text, "█\n"));
}

BOOST_AUTO_TEST_CASE(a_histogram_shows_its_distribution) {
  SummaryTable table;
  const HistogramSummary histogram{-1, 1, 10, 0, 5, {-0.5, 0, 0.5, 1.5}, {4, 1, 1, 4}};
  table.add({0, 3, std::vector<Summary>{{"weights", histogram}}});
  BOOST_TEST(contains(table.to_string(), "10 elements, 0 +- 0.7071, -1 to 1  "));
}

BOOST_AUTO_TEST_CASE(the_command_shows_the_runs_below_a_folder) {
  Folder folder;
  EventWriter(posix_storage(), folder.file("a")).scalar(7, "loss", 0.5);
  EventWriter(posix_storage(), folder.file("b/eval")).scalar(8, "accuracy", 0.9);
  Process process({"actorflow", "summaries", folder.path()});
  BOOST_TEST(process.wait() == 0);
  BOOST_TEST(contains(process.output(), folder.file("a") + "\ntag "));
  BOOST_TEST(contains(process.output(), folder.file("b/eval") + "\ntag "));
  BOOST_TEST(contains(process.output(), "accuracy        1          8  0.9 "));
}

BOOST_AUTO_TEST_CASE(the_command_says_what_it_looked_for) {
  Folder folder;
  Process process({"actorflow", "summaries", folder.path()});
  BOOST_TEST(process.wait() == 1);
  BOOST_TEST(contains(process.output(), "no events in files with 'tfevents'"));
}

BOOST_AUTO_TEST_CASE(the_command_follows_a_run_until_it_is_interrupted) {
  Folder folder;
  Process process({"actorflow", "summaries", folder.path(), "--follow"});
  BOOST_TEST(process.prints("waiting for event files"));
  EventWriter writer(posix_storage(), folder.path());
  writer.scalar(1, "loss", 0.5);
  writer.flush();
  BOOST_TEST(process.prints("loss        1          1  0.5"));
  writer.scalar(2, "loss", 0.25);
  writer.flush();
  BOOST_TEST(process.prints("loss        2          2  0.25"));
  process.send_signal(SIGINT);
  BOOST_TEST(process.wait() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
