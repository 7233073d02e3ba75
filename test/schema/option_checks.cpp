// What checks of options accept, and what they say of the rest.
#include <boost/test/unit_test.hpp>

#include "schema/command_line/command_line.h"

BOOST_AUTO_TEST_SUITE(option_checks)

using namespace actorflow;

namespace {

// What is said of an option --x with that value.
std::string mistake_by(const Check& check, const std::string& text) {
  CommandLine line("Checks", "checks");
  std::string value;
  line.option("--x", value).check(check);
  try {
    line.parse({"--x=" + text});
  } catch (const CommandLineError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

BOOST_AUTO_TEST_CASE(checks_name_what_was_expected_and_what_came) {
  for (const char* text : {"0", "-1", "nan", "inf", "fast"})
    BOOST_TEST(mistake_by(positive_number(), text) ==
               std::string("--x: expected a number above 0, got '") + text + "'");
  BOOST_TEST(mistake_by(positive_number(), "1e-300") == "none");
  BOOST_TEST(mistake_by(nonnegative_number(), "-1") == "--x: expected 0 or a number above it, got '-1'");
  BOOST_TEST(mistake_by(nonnegative_number(), "0") == "none");
  BOOST_TEST(mistake_by(in_range(1, 9), "10") == "--x: expected a number from 1 to 9, got '10'");
  BOOST_TEST(mistake_by(in_range(1, 9), "9") == "none");
  BOOST_TEST(mistake_by(in_range(0.0, 0.5), "0.5") == "none");
  BOOST_TEST(mistake_by(in_range(0.0, 0.5), "nan") == "--x: expected a number from 0 to 0.5, got 'nan'");
  BOOST_TEST(mistake_by(one_of({"tea", "cake"}), "soup") == "--x: soup not in {tea,cake}");
  const std::map<std::string, int> by_name{{"b", 1}, {"a", 2}};
  BOOST_TEST(mistake_by(one_of(by_name), "c") == "--x: c not in {a,b}");
  BOOST_TEST(mistake_by(one_of(by_name), "b") == "none");
  BOOST_TEST(mistake_by(existing_file(), "/no/such").find("/no/such") != std::string::npos);
  BOOST_TEST(mistake_by({}, "anything") == "none");
}

BOOST_AUTO_TEST_SUITE_END()
