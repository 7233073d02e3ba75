#include "apps/launch/run/line_splitter.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(line_splitter)

using namespace actorflow;

namespace {

std::vector<std::string> lines_of(const std::string& text, std::size_t part) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto keep = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (std::size_t at = 0; at < text.size(); at += part)
    splitter.add(std::string_view(text).substr(at, part), keep);
  splitter.finish(keep);
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lines_are_whole_whatever_the_parts_are) {
  for (const std::size_t part : {1u, 2u, 3u, 100u})
    BOOST_TEST(lines_of("ü€\n\n𝄞 two\nlast", part) ==
               (std::vector<std::string>{"ü€", "", "𝄞 two", "last"}));
}

BOOST_AUTO_TEST_CASE(an_endless_line_comes_in_parts_between_characters) {
  std::string text = "x";
  while (text.size() < 3 * LineSplitter::most_bytes) text += "€";
  const auto parts = lines_of(text, 65'536);
  std::string together;
  for (const auto& part : parts) {
    BOOST_TEST(part.size() <= LineSplitter::most_bytes);
    BOOST_TEST((static_cast<unsigned char>(part[0]) & 0xc0) != 0x80);
    together += part;
  }
  BOOST_TEST(parts.size() >= 3u);
  BOOST_TEST((together == text));
}

BOOST_AUTO_TEST_SUITE_END()
