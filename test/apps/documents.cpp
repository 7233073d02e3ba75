// Holds the documents together: what they link to exists.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(documents)

namespace {

namespace fs = std::filesystem;

// Documents of the project; none of build folders, of which some are hidden.
std::vector<fs::path> all_documents() {
  std::vector<fs::path> found;
  const fs::path top(ACTORFLOW_SOURCE_DIR);
  for (auto entry = fs::recursive_directory_iterator(top); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name == "build" || name.starts_with(".")))
      entry.disable_recursion_pending();
    if (entry->is_regular_file() && entry->path().extension() == ".md") found.push_back(entry->path());
  }
  return found;
}

// Adds the files that a line links to by [text](file), <img src="file"> or <source srcset="file">;
// neither addresses nor places in the same document.
void add_links(std::string line, std::vector<std::string>& files) {
  static const std::regex code("`[^`]*`"), link(R"re(\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)")re"),
      elsewhere("^([a-z]+:|#).*");
  line = std::regex_replace(line, code, "x");  // a code span may be the text of a link
  for (std::sregex_iterator found(line.begin(), line.end(), link), end; found != end; ++found) {
    const std::string target = (*found)[1].matched ? (*found)[1] : (*found)[2];
    if (!std::regex_match(target, elsewhere)) files.push_back(target.substr(0, target.find('#')));
  }
}

// Code, in blocks or in a line, links to nothing.
std::vector<std::string> linked_files(std::istream& document) {
  std::vector<std::string> files;
  bool in_code = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("```")) in_code = !in_code;
    if (!in_code) add_links(line, files);
  }
  return files;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_relative_link_points_to_a_file_that_exists) {
  std::size_t links = 0;
  for (const auto& document : all_documents()) {
    std::ifstream text(document);
    for (const auto& file : linked_files(text)) {
      ++links;
      BOOST_TEST(fs::exists(document.parent_path() / file),
                 document.string() << " links to " << file << ", which does not exist");
    }
  }
  BOOST_TEST(links > 50u);
}

BOOST_AUTO_TEST_CASE(links_are_told_from_addresses_and_code) {
  std::istringstream document(
      "See [one](a/b.md), [`two`](c.md#part) and ![three](d.svg); [not](https://x.y), [nor](#part),\n"
      "nor `[that](e.md)`.\n```\n[nor](f.md)\n```\n<img src=\"g.svg\"> [four](h.md)\n");
  const std::vector<std::string> expected = {"a/b.md", "c.md", "d.svg", "g.svg", "h.md"};
  BOOST_TEST(linked_files(document) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
