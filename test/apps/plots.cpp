#include <boost/test/unit_test.hpp>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/plots/axis.h"
#include "apps/plots/charts.h"
#include "apps/plots/svg.h"
#include "apps/plots/utf8.h"
#include "dataflow/values/error.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(plots)

using namespace actorflow;

namespace {

constexpr const char* hostile = "<b>&\"'\x01\xff Größe 1<2";
constexpr const char* harmless = "&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd Größe 1&lt;2";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// "" if each element that begins also ends, in order, and nothing but escapes lies between them.
std::string xml_mistake(const std::string& xml) {
  static const std::regex token(
      R"re(<(/?)(\w+)(?: [\w-]+="[^"<]*")*(/?)>|(&(?:lt|gt|amp|quot|#39);|[^<&]+))re");
  std::vector<std::string> open;
  std::size_t end = 0;
  for (std::sregex_iterator it(xml.begin(), xml.end(), token), last; it != last; ++it) {
    if (static_cast<std::size_t>(it->position()) != end) break;
    end += static_cast<std::size_t>(it->length());
    if ((*it)[4].matched || (*it)[3].length() > 0) continue;
    if ((*it)[1].length() == 0)
      open.push_back((*it)[2]);
    else if (open.empty() || open.back() != (*it)[2])
      return "unexpected " + it->str();
    else
      open.pop_back();
  }
  if (end != xml.size()) return "no markup: " + xml.substr(end, 40);
  return open.empty() ? "" : open.back() + " does not end";
}

void expect_picture(const std::string& svg) {
  BOOST_TEST(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  BOOST_TEST(xml_mistake(svg) == "");
  BOOST_TEST(svg.find("nan") == std::string::npos);
  BOOST_TEST(svg.find("inf") == std::string::npos);
}

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  for (const AxisTick& tick : ticks(axis)) labels.push_back(tick.label);
  return labels;
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_text_is_a_label) {
  BOOST_TEST(xml_text(hostile) == harmless);
  BOOST_TEST(xml_text(std::string("a\0b\n\t\xed\xa0\x80", 8)) ==
             "ab\n\t\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  expect_picture(to_svg(LineChart{hostile, hostile, hostile, {{hostile, by_epoch({1, 2})}}}));
  expect_picture(to_svg(BarChart{hostile, hostile, {{hostile, 1}}}));
  expect_picture(to_svg(ConfusionMatrix{hostile, {hostile}, {{3}}}));
  expect_picture(to_svg(ImageGrid{hostile, {{Tensor::zeros(DType::uint8, {2, 2}), hostile}}}));
  expect_picture(to_svg(TextList{hostile, {{hostile, hostile}}}));
}

BOOST_AUTO_TEST_CASE(long_labels_are_shortened_by_characters) {
  BOOST_TEST(shortened("Größe", 5) == "Größe");
  BOOST_TEST(shortened("Größen", 5) == "Größ…");
  BOOST_TEST(shortened("", 5) == "");
  BOOST_TEST(shortened("ab", 1) == "…");
}

BOOST_AUTO_TEST_CASE(utf8_is_read_character_by_character) {
  std::string_view text = "a\xf0\x9f\x98\x80\xc0\xaf\xe2\x82";
  std::vector<char32_t> values;
  while (!text.empty()) values.push_back(take_character(text).value);
  BOOST_TEST((values == std::vector<char32_t>{'a', 0x1f600, 0xfffd, 0xfffd, 0xfffd, 0xfffd}));
}

BOOST_AUTO_TEST_CASE(ticks_are_round_numbers_within_the_axis) {
  const auto is = boost::test_tools::per_element();
  BOOST_TEST(labels_of({.low = 0, .high = 1}) ==
                 (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1"}),
             is);
  BOOST_TEST(labels_of({.low = 0.912, .high = 0.971}) ==
                 (std::vector<std::string>{"0.92", "0.93", "0.94", "0.95", "0.96", "0.97"}),
             is);
  BOOST_TEST(labels_of({.low = -3, .high = 3}) ==
                 (std::vector<std::string>{"-3", "-2", "-1", "0", "1", "2", "3"}),
             is);
}

BOOST_AUTO_TEST_CASE(an_axis_holds_what_is_finite) {
  const Axis axis = axis_around({NAN, 3, INFINITY, -1});
  BOOST_TEST(axis.low == -1);
  BOOST_TEST(axis.high == 3);
  const Axis one = axis_around({7, 7});
  BOOST_TEST((one.low < 7 && 7 < one.high));
  BOOST_TEST(axis_around({}).high == 1);
}

BOOST_AUTO_TEST_CASE(a_curve_has_a_gap_where_a_value_is_not_finite) {
  const std::string svg =
      to_svg(LineChart{"loss", "epoch", "loss", {{"training", by_epoch({3, 2, NAN, 1, NAN, 2, 2})}}});
  expect_picture(svg);
  BOOST_TEST(count_of(svg, "<polyline") == 2u);  // and the lonely value is a dot
  BOOST_TEST(count_of(svg, "<circle") == 1u);
}

BOOST_AUTO_TEST_CASE(charts_of_nothing_are_pictures) {
  expect_picture(to_svg(LineChart{}));
  expect_picture(to_svg(LineChart{.series = {{"never finite", by_epoch({NAN, INFINITY})}}}));
  expect_picture(to_svg(BarChart{}));
  expect_picture(to_svg(ConfusionMatrix{}));
  expect_picture(to_svg(ImageGrid{}));
  expect_picture(to_svg(TextList{}));
}

BOOST_AUTO_TEST_CASE(bars_say_where_they_begin) {
  const BarChart chart{"members", "accuracy", {{"0", 0.96}, {"1", NAN}, {"vote", 0.9812, true}}, 0.9};
  const std::string svg = to_svg(chart);
  expect_picture(svg);
  BOOST_TEST(count_of(svg, "accuracy (bars begin at 0.9)") == 1u);
  BOOST_TEST(count_of(svg, "height=\"16\"") == 2u);
  BOOST_TEST(count_of(svg, ">0.9812<") == 1u);
  expect_picture(to_svg(BarChart{"losses", "", {{"below zero", -2}, {"above", 1}}}));
}

BOOST_AUTO_TEST_CASE(a_confusion_matrix_counts_pairs) {
  const auto matrix = confusion_matrix("digits", {"0", "1", "2"}, {0, 0, 1, 2, 2}, {0, 2, 1, 2, 2});
  BOOST_TEST((matrix.counts == std::vector<std::vector<std::int64_t>>{{1, 0, 1}, {0, 1, 0}, {0, 0, 2}}));
  expect_picture(to_svg(matrix));
  BOOST_CHECK_THROW(confusion_matrix("", {"0"}, {0}, {}), Error);
  BOOST_CHECK_THROW(confusion_matrix("", {"0"}, {0}, {1}), Error);
  BOOST_CHECK_THROW(confusion_matrix("", {"0"}, {-1}, {0}), Error);
}

BOOST_AUTO_TEST_CASE(labels_that_are_too_wide_for_a_column_stand_upright_and_whole) {
  const std::string wide = to_svg(ConfusionMatrix{"", {"automobile", "cat"}, {{1, 0}, {0, 1}}});
  BOOST_TEST(count_of(wide, ">automobile<") == 2u);
  BOOST_TEST(count_of(wide, "rotate") == 3u);  // two labels, and the axis of the rows
  BOOST_TEST(count_of(to_svg(ConfusionMatrix{"", {"cat"}, {{1}}}), "rotate") == 1u);
}

BOOST_AUTO_TEST_CASE(a_caption_may_have_lines) {
  const Tensor image = Tensor::zeros(DType::uint8, {2, 2});
  const std::string svg = to_svg(ImageGrid{"", {{image, "automobile\nnot airplane"}}});
  expect_picture(svg);
  for (const char* line : {">automobile<", ">not airplane<"})
    BOOST_TEST(count_of(svg, line) == 1u, line);
}

BOOST_AUTO_TEST_CASE(every_member_of_an_ensemble_of_eight_has_a_colour_of_its_own) {
  std::set<std::string_view> colours;
  for (std::size_t i = 0; i < 8; ++i) colours.insert(series_colour(i));
  BOOST_TEST(colours.size() == 8u);
}

BOOST_AUTO_TEST_CASE(lines_of_text_stand_beside_their_captions) {
  const std::string svg = to_svg(TextList{"mistakes", {{"1, 2", "a, not b"}, {"3, 4", "b, not a"}}});
  expect_picture(svg);
  for (const char* part : {">1, 2<", ">a, not b<", ">3, 4<", ">b, not a<"})
    BOOST_TEST(count_of(svg, part) == 1u, part);
}

BOOST_AUTO_TEST_CASE(images_of_either_type_are_embedded) {
  const Tensor bytes = Tensor::of<std::uint8_t>({1, 2, 1}, {0, 255});
  const Tensor floats = Tensor::of<float>({1, 2}, {-1, 2});
  const std::string svg = to_svg(ImageGrid{"", {{bytes, "7 as 1"}, {floats, ""}}, 1});
  expect_picture(svg);
  static const std::regex png("base64,([A-Za-z0-9+/]+=*)\"");
  std::vector<std::string> found;
  for (std::sregex_iterator it(svg.begin(), svg.end(), png), last; it != last; ++it)
    found.push_back((*it)[1]);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0] == found[1]);
  BOOST_TEST(found[0].starts_with("iVBORw0KGgo"));  // the signature of PNG
  BOOST_TEST(found[0].size() % 4 == 0u);
  for (const Tensor& wrong : {Tensor::zeros(DType::int64, {2, 2}), Tensor::zeros(DType::uint8, {2}),
                              Tensor::zeros(DType::uint8, {2, 2, 5})})
    BOOST_CHECK_THROW(to_svg(ImageGrid{"", {{wrong, ""}}}), Error);
}

BOOST_AUTO_TEST_CASE(a_plot_is_saved_in_a_folder_that_it_makes) {
  const test::Folder folder;
  save_plot(folder.file("a/b"), "loss", to_svg(LineChart{}));
  expect_picture(test::read_file(folder.file("a/b/loss.svg")));
  test::write_file(folder.file("file"), "");
  BOOST_CHECK_EXCEPTION(save_plot(folder.file("file"), "loss", ""), Error, [](const Error& error) {
    return error.code() == Code::disk_error &&
           std::string(error.what()).find("file/loss.svg: Not a directory") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
