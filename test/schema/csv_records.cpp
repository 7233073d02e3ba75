#include <boost/test/unit_test.hpp>
#include <limits>

#include "dataflow/values/error.h"
#include "schema/records/csv_record.h"
#include "test/schema/support/memory_source.h"
#include "test/schema/support/random_records.h"

BOOST_AUTO_TEST_SUITE(csv_records)

using namespace actorflow;
using test::contains;

namespace {

enum class Colour : std::int8_t { red = -1, green };

struct Line {
  std::int64_t id;
  char flag;
  double price;
  std::pair<std::string, Colour> article;
  std::optional<float> discount;
  std::array<std::uint8_t, 2> size;
  std::vector<int> stock;
  bool open;
};

std::string row(const auto& record, char delimiter = ',') {
  std::string line;
  append_csv(record, line, delimiter);
  return line;
}

template <class T>
T parsed(const std::string& line, char delimiter = ',') {
  CsvSplitter splitter(delimiter);
  return parse_csv<T>(splitter.split(line));
}

std::string error_of(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::invalid_argument));
    return error.what();
  }
  return "no error";
}

std::vector<std::string> split(const std::string& line) {
  CsvSplitter splitter;
  const auto fields = splitter.split(line);
  return {fields.begin(), fields.end()};
}

using Strings = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(nested_records_are_columns) {
  const Line line{-7, 'R', 0.1, {"a \"b\", c", Colour::red}, std::nullopt, {3, 255}, {1, -2, 3}, true};
  BOOST_TEST(row(line) == "-7,R,0.1,\"a \"\"b\"\", c\",-1,,3,255,1 -2 3,true");
  const Line again = parsed<Line>(row(line));
  BOOST_TEST(row(again) == row(line));
  BOOST_TEST((again.article.second == Colour::red));
  BOOST_TEST(!again.discount);
}

BOOST_AUTO_TEST_CASE(rows_come_back_bit_by_bit) {
  using Numbers =
      std::tuple<double, float, std::int64_t, std::uint64_t, std::int8_t, bool, std::vector<float>>;
  test::for_random_records<Numbers, std::tuple<std::string, std::string>, std::array<std::string, 3>,
                           std::string>(500, [](const auto& record) {
    using T = std::remove_cvref_t<decltype(record)>;
    for (const char delimiter : {',', '\t', ';'})
      BOOST_TEST((parsed<T>(row(record, delimiter), delimiter) == record), row(record));
  });
}

BOOST_AUTO_TEST_CASE(texts_are_quoted_where_they_must_be) {
  BOOST_TEST(row(std::string("plain text")) == "plain text");
  BOOST_TEST(row(std::string("two\nlines")) == "\"two\nlines\"");
  BOOST_TEST(row(std::string("semi;colon"), ';') == "\"semi;colon\"");
  BOOST_TEST(row(std::string("")) == "\"\"");
  BOOST_TEST(row(std::pair(std::string(), std::string())) == ",");
  BOOST_TEST(row(Strings{"a,b", "c"}) == "\"a,b c\"");
}

BOOST_AUTO_TEST_CASE(chars_are_quoted_where_they_must_be) {
  using Count = std::pair<char, int>;
  BOOST_TEST(row(Count{',', 123}) == "\",\",123");
  BOOST_TEST(row(Count{'"', 5}) == "\"\"\"\",5");
  BOOST_TEST(row(Count{',', 1}, ';') == ",;1");
  for (int c = ' '; c < 256; ++c) {
    const Count count{static_cast<char>(c), c};
    for (const char delimiter : {',', '\t', ';'})
      BOOST_TEST((parsed<Count>(row(count, delimiter), delimiter) == count), c);
  }
}

BOOST_AUTO_TEST_CASE(lists_of_texts_come_back) {
  BOOST_TEST(row(Strings{"New York", "Rome"}) == "\"\"\"New York\"\" Rome\"");
  BOOST_TEST(parsed<Strings>("a  b ") == (Strings{"a", "", "b"}), boost::test_tools::per_element());
  Strings words{""};  // all of up to two of these letters
  for (const char first : {'a', ' ', '"', ','}) {
    words.push_back({first});
    for (const char second : {'a', ' ', '"', ','}) words.push_back({first, second});
  }
  for (const auto& first : words)
    for (const auto& second : words)
      for (const Strings& list : {Strings{}, Strings{first}, Strings{first, second}})
        BOOST_TEST((parsed<Strings>(row(list)) == list), row(list));
}

BOOST_AUTO_TEST_CASE(lists_of_chars_come_back) {
  for (int c = 0; c < 256; ++c) {
    const std::vector<char> list{static_cast<char>(c), 'x', static_cast<char>(c)};
    for (const char delimiter : {',', '\t', ';'})
      BOOST_TEST((parsed<std::vector<char>>(row(list, delimiter), delimiter) == list), c);
  }
}

BOOST_AUTO_TEST_CASE(a_view_cannot_hold_quotes_that_are_doubled) {
  const std::string plain = row(Strings{"New York"}), doubled = row(Strings{"5\" x"});
  CsvSplitter splitter;
  BOOST_TEST(parse_csv<std::vector<std::string_view>>(splitter.split(plain)).at(0) == "New York");
  BOOST_TEST(
      contains(error_of([&] { parsed<std::vector<std::string_view>>(doubled); }),
               "column 1: a text with quotes in a list, which are doubled: read it as std::string"));
}

BOOST_AUTO_TEST_CASE(rows_are_appended) {
  std::string lines = "first\n";
  append_csv(std::pair(1, std::string_view("x")), lines);
  BOOST_TEST(lines == "first\n1,x");
}

BOOST_AUTO_TEST_CASE(lines_are_cut_into_fields) {
  BOOST_TEST(split("") == Strings{""}, boost::test_tools::per_element());
  BOOST_TEST(split("a,,b,") == (Strings{"a", "", "b", ""}), boost::test_tools::per_element());
  BOOST_TEST(split("\"a,\"\"b\"\"\",\"\",c,\"d\"") == (Strings{"a,\"b\"", "", "c", "d"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lines_without_quotes_are_not_copied) {
  CsvSplitter splitter;
  const std::string line = "one,two";
  BOOST_TEST(static_cast<const void*>(splitter.split(line)[1].data()) == line.data() + 4);
}

BOOST_AUTO_TEST_CASE(wrong_quotes_name_their_column) {
  BOOST_TEST(contains(error_of([] { split("a,b\"c,d"); }), "column 2"));
  BOOST_TEST(contains(error_of([] { split("\"a\"b,c"); }),
                      "column 1: expected the next field after a quote, got 'b"));
  BOOST_TEST(contains(error_of([] { split("a,\"b"); }),
                      "column 2: a quote is not closed in its line; line breaks"));
}

BOOST_AUTO_TEST_CASE(a_value_of_another_type_is_named_with_its_column) {
  BOOST_TEST(error_of([] { parsed<std::pair<std::string, int>>("a,1.5"); }) ==
             "column 2: expected int32, got '1.5'");
  BOOST_TEST(contains(error_of([] { parsed<std::uint8_t>("256"); }), "expected uint8, got '256'"));
  BOOST_TEST(contains(error_of([] { parsed<double>(""); }), "expected float64, got ''"));
  BOOST_TEST(contains(error_of([] { parsed<double>("\x1b[2J\xff"); }), R"(got '\x1b[2J\xff')"));
  BOOST_TEST(contains(error_of([] { parsed<char>("ab"); }), "expected char"));
  BOOST_TEST(contains(error_of([] { parsed<bool>("yes"); }), "expected bool"));
  BOOST_TEST(contains(error_of([] { parsed<std::vector<int>>("1 x"); }), "expected int32, got 'x'"));
  BOOST_TEST(error_of([] { parsed<std::pair<int, float>>("1,2,3"); }) ==
             "expected a row of 2 columns for pair<int32,float32>, got 3");
}

BOOST_AUTO_TEST_CASE(numbers_may_have_spaces_and_a_plus) {
  BOOST_TEST(parsed<int>(" +4 ") == 4);
  BOOST_TEST(parsed<double>("\t-2e3") == -2000);
  BOOST_TEST(parsed<std::optional<int>>("").has_value() == false);
}

BOOST_AUTO_TEST_SUITE_END()
