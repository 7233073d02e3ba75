// Texts of users as messages show them.
#include <boost/test/unit_test.hpp>
#include <string>

#include "schema/records/excerpt.h"

BOOST_AUTO_TEST_SUITE(excerpts)

using actorflow::excerpt;

BOOST_AUTO_TEST_CASE(text_in_utf8_stays) {
  for (const std::string text : {"", "a b", "Zürich", "東京", "€", "\U0001f600"})
    BOOST_TEST(excerpt(text) == text);
}

BOOST_AUTO_TEST_CASE(what_would_change_a_terminal_does_not_reach_it) {
  BOOST_TEST(excerpt("a\tb\x1b[2J\x7f") == R"(a\x09b\x1b[2J\x7f)");
  BOOST_TEST(excerpt("\xc2\x9b"
                     "2J") == R"(\xc2\x9b2J)");  // the same control character in UTF-8
}

BOOST_AUTO_TEST_CASE(other_bytes_are_shown_as_numbers) {
  BOOST_TEST(excerpt("caf\xe9") == R"(caf\xe9)");
  BOOST_TEST(excerpt("\xc3") == R"(\xc3)");                          // cut
  BOOST_TEST(excerpt("\xc0\xaf") == R"(\xc0\xaf)");                  // longer than needed
  BOOST_TEST(excerpt("\xe0\x80\xaf") == R"(\xe0\x80\xaf)");          // the same
  BOOST_TEST(excerpt("\xed\xa0\x80") == R"(\xed\xa0\x80)");          // half of a pair of UTF-16
  BOOST_TEST(excerpt("\xf4\x90\x80\x80") == R"(\xf4\x90\x80\x80)");  // behind the last character
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut_between_characters) {
  BOOST_TEST(excerpt("abcd", 4) == "abcd");
  BOOST_TEST(excerpt("abcde", 4) == "abcd...");
  BOOST_TEST(excerpt("abcüe", 4) == "abcü...");
}

BOOST_AUTO_TEST_SUITE_END()
