// Holds the public headers (apps/cmake/public_headers.txt): what they include, and that a user's project
// names their functions.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(fs::path(ACTORFLOW_SOURCE_DIR) / path);
  BOOST_REQUIRE_MESSAGE(file, path << " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The capture of each match.
std::vector<std::string> found(const std::string& text, const std::regex& form) {
  std::vector<std::string> all;
  for (std::sregex_iterator match(text.begin(), text.end(), form), end; match != end; ++match)
    all.push_back((*match)[1]);
  return all;
}

std::vector<std::string> listed_headers() {
  static const std::regex line("^([a-z].*)$", std::regex::multiline);
  return found(contents("apps/cmake/public_headers.txt"), line);
}

std::vector<std::string> own_includes(const std::string& text) {
  static const std::regex form("^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\"", std::regex::multiline);
  return found(text, form);
}

// Those of other libraries and of POSIX: the headers of C++ have no dot and no folder.
std::vector<std::string> foreign_includes(const std::string& text) {
  static const std::regex form("^[ \t]*#[ \t]*include[ \t]*<([^>]*[./][^>]*)>", std::regex::multiline);
  return found(text, form);
}

// The text without its namespaces `detail`.
std::string without_details(std::string text) {
  for (const std::string name : {"actorflow::detail", "detail"})
    for (std::size_t begin = 0; (begin = text.find("namespace " + name + " {")) != text.npos;) {
      const std::string last = "}  // namespace " + name + "\n";
      const std::size_t end = text.find(last, begin);
      text.erase(begin, end == text.npos ? end : end + last.size() - begin);
    }
  return text;
}

// Names of the functions that a header declares in the namespace; operators and templates are not among
// them.
std::vector<std::string> functions(const std::string& header) {
  static const std::regex comment("//[^\n]*"),
      macro("^#define[^\n]*(\\\\\n[^\n]*)*", std::regex::multiline),
      of_template("template <[^;{]*>\n[^;{]*[;{]"),
      form(R"(^(?!using|struct|class|enum|return|template|#)(?:[A-Za-z_][\w:<>,&* ]*[ &*])(\w+)\()",
           std::regex::multiline);
  std::string text = std::regex_replace(without_details(header), comment, "");
  for (const auto& left_out : {macro, of_template}) text = std::regex_replace(text, left_out, "");
  return found(text, form);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(public_headers)

BOOST_AUTO_TEST_CASE(the_list_is_sorted_and_names_each_header_once) {
  const auto headers = listed_headers();
  BOOST_TEST(headers.size() > 50u);
  BOOST_TEST(std::ranges::is_sorted(headers));
  BOOST_TEST((std::ranges::adjacent_find(headers) == headers.end()));
}

BOOST_AUTO_TEST_CASE(what_a_public_header_includes_is_public) {
  const auto headers = listed_headers();
  const std::set<std::string> listed(headers.begin(), headers.end());
  for (const auto& header : headers)
    for (const auto& included : own_includes(contents(header)))
      BOOST_TEST(listed.contains(included), header << " includes " << included << ", which is internal");
}

BOOST_AUTO_TEST_CASE(a_program_needs_no_header_of_another_library) {
  for (const auto& header : listed_headers())
    for (const auto& included : foreign_includes(contents(header)))
      BOOST_TEST(
          (header == "actors/simulation/simulation_test.h" && included.starts_with("boost/test/")),
          header << " includes " << included);
}

BOOST_AUTO_TEST_CASE(internal_headers_stay_internal) {
  const auto headers = listed_headers();
  for (const auto* internal :
       {"schema/link.h", "schema/message.h", "schema/master.h", "actors/core/messages.h",
        "dataflow/transform/partition.h", "kernels/core/region.h"})
    BOOST_TEST(std::ranges::count(headers, internal) == 0, internal << " is public");
}

BOOST_AUTO_TEST_CASE(a_users_project_names_every_function) {
  const std::string names = contents("test/apps/user_project/names.cpp");
  std::size_t count = 0;
  for (const auto& header : listed_headers())
    for (const auto& function : functions(contents(header))) {
      ++count;
      BOOST_TEST(std::regex_search(names, std::regex("::" + function + "\\b")),
                 "user_project/names.cpp does not name " << function << "() of " << header);
    }
  BOOST_TEST(count > 200u);
}

BOOST_AUTO_TEST_CASE(includes_and_functions_are_found) {
  const std::string text =
      "#include <vector>\n#include <caf/all.hpp>\n#include \"a/b.h\"\n\n// int no(int);\nint yes(int x "
      "= {});\n"
      "template <class T>\nvoid nor(T);\ninline A& too(B<C, D> b) {\n  return f(b);\n}\nstruct E {};\n"
      "namespace detail {\nint hidden();\n}  // namespace detail\nint last();\n";
  BOOST_TEST((own_includes(text) == std::vector<std::string>{"a/b.h"}));
  BOOST_TEST((foreign_includes(text) == std::vector<std::string>{"caf/all.hpp"}));
  BOOST_TEST((functions(text) == std::vector<std::string>{"yes", "too", "last"}));
}

BOOST_AUTO_TEST_SUITE_END()
