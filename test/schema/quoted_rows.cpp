// Rows of CSV with line breaks within quotes, out of text that comes in any pieces.
#include "schema/formats/quoted_rows.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(quoted_rows)

using namespace actorflow;
using Rows = std::vector<std::string>;

namespace {

// Gives the lines of `text` in runs of `lines` each.
Rows rows_of(const std::string& text, int lines) {
  QuotedRows rows(1000);
  Rows all;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    for (int line = 0; line < lines && end < text.size(); ++line)
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    std::string run = text.substr(begin, end - begin);  // what comes later lies elsewhere
    std::string_view left = run;
    while (!left.empty())
      if (const auto row = rows.next(left)) all.emplace_back(*row);
    begin = end;
  }
  BOOST_TEST(!rows.is_in_row());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_line_break_within_quotes_ends_no_row) {
  const std::string text = "a,b\r\n\"x\ny\",2\n\n3,\"\r\n\"\"\n\n\"\r\n\"\"\n\"end\n\"";
  const Rows expected{"a,b", "\"x\ny\",2", "", "3,\"\r\n\"\"\n\n\"", "\"\"", "\"end\n\""};
  for (int lines = 1; lines < 12; ++lines) BOOST_TEST(rows_of(text, lines) == expected);
}

BOOST_AUTO_TEST_CASE(a_quote_that_is_not_closed_is_seen) {
  QuotedRows rows(10);
  std::string_view text = "\"1234\n";
  BOOST_TEST(!rows.next(text));
  BOOST_TEST(rows.is_in_row());
  BOOST_TEST(text.empty());
  text = "567890\n";
  BOOST_CHECK_EXCEPTION(rows.next(text), Error, [](const Error& error) {
    return std::string(error.what()).ends_with("above the limit of 10: are all of its quotes closed?");
  });
}

BOOST_AUTO_TEST_SUITE_END()
