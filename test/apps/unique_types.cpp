// No two types of the libraries and programs share a qualified name. The linker keeps one copy of an
// inline function, such as a destructor that the compiler writes: of two types of one name it would call
// that of the other, and no compiler sees both.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

BOOST_AUTO_TEST_SUITE(unique_types)

namespace {

namespace fs = std::filesystem;

struct Definition {
  std::string name;   // qualified
  std::string place;  // file:line
};

// Sources are laid out by clang-format: what is in no class and no function begins its line, and a
// namespace ends with a line of its own that names it, unless there is one line in it.
std::vector<Definition> types_defined_in(const fs::path& file) {
  static const std::regex opens(R"(^(?:inline )?namespace ?([\w:]*) \{.*)"),
      closes(R"(^\}  // namespace.*)"),
      defines(
          R"(^(?:class|struct|union|enum class|enum) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: :.*| \{.*)?$)");
  std::vector<std::string> scopes;
  std::vector<Definition> found;
  std::ifstream in(file);
  std::string line;
  int opened_at = 0;
  for (int number = 1; std::getline(in, line); ++number) {
    std::smatch match;
    if (std::regex_match(line, match, opens)) {
      scopes.push_back(match[1]);
      opened_at = number;
    } else if (std::regex_match(line, closes) || (line == "}" && number == opened_at + 2)) {
      if (!scopes.empty()) scopes.pop_back();
    } else if (std::regex_match(line, match, defines)) {
      std::string name;
      bool is_local = false;  // an unnamed namespace
      for (const auto& scope : scopes) {
        is_local = is_local || scope.empty();
        name += scope + "::";
      }
      if (!is_local)
        found.push_back({name + match[1].str(), file.string() + ":" + std::to_string(number)});
    }
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_two_types_share_a_name) {
  std::map<std::string, std::string> place_of;
  for (const char* folder : {"dataflow", "kernels", "schema", "actors", "apps"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ACTORFLOW_SOURCE_DIR) / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu") continue;
      for (const auto& [name, place] : types_defined_in(entry.path())) {
        const auto [first, is_new] = place_of.emplace(name, place);
        BOOST_TEST(is_new, name << " is defined at " << first->second << " and at " << place);
      }
    }
  BOOST_TEST(place_of.size() > 500U);
}

BOOST_AUTO_TEST_SUITE_END()
