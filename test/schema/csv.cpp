#include <boost/test/unit_test.hpp>

#include "test/schema/support/memory_source.h"

BOOST_AUTO_TEST_SUITE(csv)

using namespace actorflow;
using test::contains;
using test::memory;

namespace {

const CsvOptions flowers{.components = {{DType::float32, 0, 2}, {DType::string, 2}, {DType::int64, 3}}};
const std::string header = "length,width,name,label\n";

std::vector<Tuple> read(const std::string& content, const CsvOptions& options = flowers) {
  return test::all_of(*read_csv(memory(content), options));
}

std::vector<std::string> words(const std::string& content) {
  std::vector<std::string> words;
  for (const auto& element : read(content, {.components = {{DType::string, 0}}, .header = false}))
    words.push_back(element[0].scalar<std::string>());
  return words;
}

void expect_error(const std::string& content, Code code, const std::vector<std::string>& parts,
                  const CsvOptions& options = flowers) {
  const Status status = test::status_of_reading([&] { return read_csv(memory(content), options); });
  BOOST_TEST((status.code == code), status.to_string());
  for (const auto& part : parts) BOOST_TEST(contains(status.message, part), status.message);
}

}  // namespace

BOOST_AUTO_TEST_CASE(columns_become_components) {
  const auto elements = read(header + "1.5,-2e3,iris,3\n 4 ,+5,rose,-1\n");
  BOOST_TEST(elements.size() == 2u);
  BOOST_TEST(describe(elements[0]) == "float32[2] string[] int64[]");
  BOOST_TEST(elements[0][0].values<float>()[1] == -2000);
  BOOST_TEST(elements[1][0].values<float>()[1] == 5);
  BOOST_TEST(elements[1][1].scalar<std::string>() == "rose");
  BOOST_TEST(elements[1][2].scalar<std::int64_t>() == -1);
}

BOOST_AUTO_TEST_CASE(the_last_line_may_lack_its_end_and_lines_may_be_empty) {
  BOOST_TEST(words("a\n\r\n\nb\r\nc") == (std::vector<std::string>{"a", "b", "c"}),
             boost::test_tools::per_element());
  BOOST_TEST(words("").empty());
  BOOST_TEST(read(header).empty());
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_no_part_of_the_first_field) {
  const std::string mark = "\xEF\xBB\xBF";
  BOOST_TEST(words(mark + "\"a\"\nb\n") == (std::vector<std::string>{"a", "b"}),
             boost::test_tools::per_element());
  BOOST_TEST(words("a\n" + mark + "b\n")[1] == mark + "b");
}

BOOST_AUTO_TEST_CASE(quoted_fields_hold_delimiters_quotes_and_lines) {
  BOOST_TEST(words("\"a,b\",1\n\"say \"\"hi\"\"\",2\n\"two\n\nlines\",3\n") ==
                 (std::vector<std::string>{"a,b", "say \"hi\"", "two\n\nlines"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(another_delimiter_may_be_chosen) {
  const CsvOptions options{.components = {{DType::uint8, 1}}, .header = false, .delimiter = ';'};
  BOOST_TEST(read("1;255\n", options)[0][0].scalar<std::uint8_t>() == 255);
}

BOOST_AUTO_TEST_CASE(types_of_16_and_8_bits_are_left_to_casts) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::int8, DType::int16})
    expect_error("1\n", Code::invalid_argument,
                 {"file: ", "got " + std::string(to_string(dtype)), "cast it"},
                 {.components = {{dtype, 0}}, .header = false});
}

BOOST_AUTO_TEST_CASE(elements_can_be_passed_over) {
  const auto reader = read_csv(memory(header + "1,1,a,1\n2,2,b,2\n3,3,c,3\n"), flowers);
  BOOST_TEST(reader->skip(2) == 2);
  BOOST_TEST(test::all_of(*reader)[0][1].scalar<std::string>() == "c");
}

BOOST_AUTO_TEST_CASE(a_value_of_another_type_is_named_with_its_place) {
  expect_error(header + "1,2,a,3\n1,x,b,3\n", Code::data_loss,
               {"file:3:", "field 1 ('width')", "float32", "'x'"});
  expect_error(header + "1,2,a,3.5\n", Code::data_loss,
               {"file:2:", "field 3 ('label')", "int64", "'3.5'"});
  expect_error(header + "1,2,a,99999999999999999999\n", Code::data_loss, {"int64"});
  expect_error("\"a\nb\"\n\n1\n", Code::data_loss, {"file:1:", "field 0, counted from 0", "float32"},
               {.components = {{DType::float32, 0}}, .header = false});
}

BOOST_AUTO_TEST_CASE(records_of_another_length_are_named) {
  expect_error(header + "1,2,a,3\n\n1,2,b\n", Code::data_loss,
               {"file:4:", "expected 4", "got 3", "field 3 ('label') is missing"});
  expect_error(header + "1,2,a,3\n1,2,a,3,x\n", Code::data_loss,
               {"file:3:", "expected 4", "got 5; 'x' is too much", "'label'", "quotes"});
  expect_error(header + "1,2,a,3\n1,2,a,b,3\n", Code::data_loss, {"file:3:", "got 5"});
  expect_error("1,2\n", Code::invalid_argument, {"file:1:", "4 fields or more", "got 2"},
               {.components = flowers.components, .header = false});
  expect_error("1,2\n", Code::invalid_argument, {"CsvOptions::components"}, {});
}

BOOST_AUTO_TEST_CASE(wrong_quotes_are_named) {
  expect_error(header + "1,2,a\"b,3\n", Code::data_loss,
               {"file:2:", "field 2 ('name')", "character 6", "quote"});
  expect_error(header + "1,2,\"a\"b,3\n", Code::data_loss, {"file:2:", "quote"});
  expect_error(header + "1,2,\"a,3\n4,5,b,6\n", Code::data_loss,
               {"file:2:", "field 2 ('name')", "not closed"});
}

BOOST_AUTO_TEST_CASE(an_empty_field_has_a_default_or_is_an_error) {
  const CsvOptions options{
      .components = {{.dtype = DType::float32, .count = 2, .default_value = "-1"},
                     {.dtype = DType::string, .first_column = 2},
                     {.dtype = DType::int64, .first_column = 3, .default_value = "7"}},
      .na_values = {"NA", "?"}};
  const auto elements = read(header + "1,,a,\r\n NA ,\"\",?,?\r\n,2,,8\r\n", options);
  BOOST_TEST_REQUIRE(elements.size() == 3u);
  const auto of = [&](std::size_t row, std::size_t i) { return elements[row][0].values<float>()[i]; };
  BOOST_TEST((std::vector{of(0, 0), of(0, 1), of(1, 0), of(1, 1), of(2, 0), of(2, 1)} ==
              std::vector<float>{1, -1, -1, -1, -1, 2}));
  BOOST_TEST(elements[0][2].scalar<std::int64_t>() == 7);
  BOOST_TEST(elements[1][2].scalar<std::int64_t>() == 7);
  BOOST_TEST(elements[2][2].scalar<std::int64_t>() == 8);
  BOOST_TEST(elements[1][1].scalar<std::string>() == "");  // missing
  BOOST_TEST(elements[2][1].scalar<std::string>() == "");

  expect_error(header + "1,,a,3\n", Code::data_loss,
               {"file:2:", "field 1 ('width')", "float32", "an empty field", "default_value"});
  expect_error(header + "1,NA,a,3\n", Code::data_loss, {"field 1 ('width')", "'NA'", "default_value"},
               {.components = flowers.components, .na_values = {"NA"}});
  expect_error("1\n", Code::invalid_argument, {"default_value 'none'", "float32"},
               {.components = {{.dtype = DType::float32, .default_value = "none"}}});
}

BOOST_AUTO_TEST_CASE(columns_may_be_named_by_their_headings) {
  const CsvOptions options{.components = {{.dtype = DType::int64, .column = "label"},
                                          {.dtype = DType::float32, .column = "width"}}};
  for (const char* content : {"length,width,name,label\n1,2,a,3\n", "label, width \n3,2\n",
                              "\xEF\xBB\xBF\"width\",x,\"label\"\n2,,3\n"}) {
    const auto elements = read(content, options);
    BOOST_TEST_REQUIRE(elements.size() == 1u);
    BOOST_TEST(elements[0][0].scalar<std::int64_t>() == 3);
    BOOST_TEST(elements[0][1].scalar<float>() == 2);
  }
  expect_error("length,breadth,label\n1,2,3\n", Code::invalid_argument,
               {"file:1:", "no column is headed 'width'", "'length', 'breadth', 'label'"}, options);
  expect_error("width,label,width\n1,2,3\n", Code::invalid_argument, {"two columns", "'width'"},
               options);
  expect_error("width,label\n1,2,3\n", Code::invalid_argument,
               {"file:2:", "expected 2 fields", "'width', 'label'", "got 3"}, options);
  CsvOptions without = options;
  without.header = false;
  expect_error("1,2\n", Code::invalid_argument, {"'label'", "CsvOptions::header", "first_column"},
               without);
}

BOOST_AUTO_TEST_SUITE_END()
