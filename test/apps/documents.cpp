// Holds the documents together: the files and the headings that they link to exist.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "test/apps/support/documents.h"

BOOST_AUTO_TEST_SUITE(documents)

using namespace actorflow::test;

namespace {

namespace fs = std::filesystem;

// Code, in blocks or in a line, has no links and no headings.
void for_each_line_of_text(std::istream& document, const std::function<void(const std::string&)>& look) {
  bool in_code = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("```")) in_code = !in_code;
    if (!in_code) look(line);
  }
}

// What the document links to by [text](target), <img src="target"> or <source srcset="target": files,
// and headings of files or of the document itself, but no addresses.
std::vector<std::string> links_of(std::istream& document) {
  static const std::regex code("`[^`]*`"), link(R"re(\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)")re"),
      address("^[a-z]+:.*");
  std::vector<std::string> links;
  for_each_line_of_text(document, [&](const std::string& line) {
    const std::string text =
        std::regex_replace(line, code, "x");  // a code span may be the text of a link
    for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
      const std::string target = (*found)[1].matched ? (*found)[1] : (*found)[2];
      if (!std::regex_match(target, address)) links.push_back(target);
    }
  });
  return links;
}

// By which GitHub links to a heading: lower case, "-" for a blank, and no punctuation but "-" and "_".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char c : heading) {
    if (std::isalnum(c) || c == '-' || c == '_' || c >= 0x80)
      anchor += static_cast<char>(std::tolower(c));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

std::vector<std::string> anchors_of(std::istream& document) {
  static const std::regex heading("#+ +(.*)");
  std::vector<std::string> anchors;
  for_each_line_of_text(document, [&](const std::string& line) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) anchors.push_back(anchor_of(match[1]));
  });
  return anchors;
}

// Whether the document has exactly one heading with that anchor: GitHub numbers those of equal ones.
bool has_anchor(const fs::path& document, const std::string& anchor) {
  std::ifstream text(document);
  const auto anchors = anchors_of(text);
  return std::count(anchors.begin(), anchors.end(), anchor) == 1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_link_points_to_a_file_and_a_heading_that_exist) {
  std::size_t links = 0, to_headings = 0;
  for (const auto& document : all_documents()) {
    std::ifstream text(document);
    for (const auto& link : links_of(text)) {
      const auto mark = link.find('#');
      const std::string file = link.substr(0, mark);
      const fs::path target = file.empty() ? document : document.parent_path() / file;
      ++links;
      BOOST_TEST(fs::exists(target), document.string()
                                         << " links to " << file << ", which does not exist");
      if (mark == std::string::npos) continue;
      ++to_headings;
      BOOST_TEST(has_anchor(target, link.substr(mark + 1)),
                 document.string() << " links to " << link << ": there is no such heading, or several");
    }
  }
  BOOST_TEST(links > 50u);
  BOOST_TEST(to_headings > 10u);
}

BOOST_AUTO_TEST_CASE(links_are_told_from_addresses_and_code) {
  std::istringstream document(
      "See [one](a/b.md), [`two`](c.md#part) and ![three](d.svg); [not](https://x.y), [four](#part),\n"
      "nor `[that](e.md)`.\n```\n[nor](f.md)\n```\n<img src=\"g.svg\"> [five](h.md)\n");
  const std::vector<std::string> expected = {"a/b.md", "c.md#part", "d.svg", "#part", "g.svg", "h.md"};
  BOOST_TEST(links_of(document) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(anchors_are_those_of_github) {
  std::istringstream document(
      "# actors/jobs: typed\n```\n# no heading\n```\n## A GPU (NVIDIA's H100)\n#no\n");
  const std::vector<std::string> expected = {"actorsjobs-typed", "a-gpu-nvidias-h100"};
  BOOST_TEST(anchors_of(document) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
