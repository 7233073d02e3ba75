#include "dataflow/values/joined.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <ranges>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(joined)

BOOST_AUTO_TEST_CASE(separators_stand_between_items_only) {
  using Texts = std::vector<std::string>;
  BOOST_TEST(actorflow::joined(Texts{}, ", ") == "");
  BOOST_TEST(actorflow::joined(Texts{"a"}, ", ") == "a");
  BOOST_TEST(actorflow::joined(Texts{"a", "b"}, "; ") == "a; b");
  BOOST_TEST(actorflow::joined(Texts{"", "b", ""}, ",") == ",b,", "an empty text is an item, too");
}

BOOST_AUTO_TEST_CASE(items_are_made_texts_by_a_function_or_a_member) {
  const std::map<std::string, int> numbers{{"a", 1}, {"b", 2}};
  using Entry = std::pair<const std::string, int>;
  BOOST_TEST(actorflow::joined(numbers, "|", &Entry::first) == "a|b");
  BOOST_TEST(actorflow::joined(std::views::values(numbers), "|",
                               [](int n) { return std::to_string(n); }) == "1|2");
}

BOOST_AUTO_TEST_SUITE_END()
