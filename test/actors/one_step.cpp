#include "actors/checkpoint/one_step.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(one_step)

using namespace actorflow;

namespace {

// What a task says of its variables.
struct Part {
  std::vector<std::string> updates;
  std::vector<std::int64_t> numbers;
};

std::string differences(const std::vector<Part>& parts) {
  SeenUpdates seen;
  for (const auto& part : parts) seen.add(part.updates, part.numbers);
  return seen.differences();
}

}  // namespace

BOOST_AUTO_TEST_CASE(variables_of_the_counted_step_are_of_one_step) {
  BOOST_TEST(differences({{{""}, {-1, -1, 7}}}) == "");
  BOOST_TEST(differences({{{""}, {7, 7, -1}}, {{""}, {7, 7, 7}}}) == "");
  BOOST_TEST(differences({{{"t/0", "t/1"}, {5, 5, 5, 9, 9, 9}}, {{"t/1"}, {9, 9, -1}}}) == "");
}

BOOST_AUTO_TEST_CASE(a_variable_ahead_or_behind_is_named_with_the_steps) {
  BOOST_TEST(differences({{{""}, {8, 8, -1}}, {{""}, {7, 7, 7}}}) ==
             "the global step: variables between 7 and 8, counted 7");
  BOOST_TEST(differences({{{""}, {7, 7, -1}}, {{""}, {7, 7, 6}}}) ==
             "the global step: variables between 7 and 7, counted 6");
  BOOST_TEST(differences({{{"t/0"}, {4, 5, 4}}, {{"t/1"}, {1, 1, -1}}}) ==
             "the steps of 't/0': variables between 4 and 5, counted 4; "
             "the steps of 't/1': variables between 1 and 1, counted -1");
}

BOOST_AUTO_TEST_CASE(variables_that_no_step_has_changed_since_they_got_their_value_do_not_count) {
  BOOST_TEST(differences({{{"t/0"}, {-1, -1, 12}}, {{""}, {-1, -1, 3}}}) == "");
}

BOOST_AUTO_TEST_SUITE_END()
