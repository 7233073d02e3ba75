// Holds the installed headers, which are the public ones (apps/cmake/public_headers.txt) and what these need beside
// them (implementation_headers.txt): what they include, who includes them, and that a user's project names their
// functions.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(public_headers)

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

std::vector<std::string> headers_in(const std::string& list) {
  static const std::regex line("^([a-z].*)$", std::regex::multiline);
  return found(contents("apps/cmake/" + list), line);
}

std::vector<std::string> headers_for_programs() { return headers_in("public_headers.txt"); }
std::vector<std::string> headers_of_templates() { return headers_in("implementation_headers.txt"); }

std::vector<std::string> installed_headers() {
  auto headers = headers_for_programs();
  std::ranges::copy(headers_of_templates(), std::back_inserter(headers));
  return headers;
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

// What the header includes of the project, and what that includes, and so on.
void add_needs(const std::string& header, std::set<std::string>& needs) {
  for (const auto& included : own_includes(contents(header)))
    if (needs.insert(included).second) add_needs(included, needs);
}

// Sources that users read as examples, or of a user's project.
std::vector<fs::path> example_sources() {
  std::vector<fs::path> sources;
  for (const auto* folder : {"apps", "test/apps/user_project", "test/apps/user_project/readme"})
    for (const auto& entry : fs::directory_iterator(fs::path(ACTORFLOW_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".cpp" && entry.path().filename() != "names.cpp")
        sources.push_back(fs::relative(entry.path(), ACTORFLOW_SOURCE_DIR));
  return sources;
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

BOOST_AUTO_TEST_CASE(the_lists_are_sorted_and_name_each_header_once) {
  BOOST_TEST(headers_for_programs().size() > 50u);
  BOOST_TEST(std::ranges::is_sorted(headers_for_programs()));
  BOOST_TEST(std::ranges::is_sorted(headers_of_templates()));
  auto headers = installed_headers();
  std::ranges::sort(headers);
  BOOST_TEST((std::ranges::adjacent_find(headers) == headers.end()));
}

BOOST_AUTO_TEST_CASE(what_an_installed_header_includes_is_installed) {
  const auto headers = installed_headers();
  const std::set<std::string> listed(headers.begin(), headers.end());
  for (const auto& header : headers)
    for (const auto& included : own_includes(contents(header)))
      BOOST_TEST(listed.contains(included), header << " includes " << included << ", which is internal");
}

BOOST_AUTO_TEST_CASE(public_headers_need_each_implementation_header) {
  std::set<std::string> needs;
  for (const auto& header : headers_for_programs()) add_needs(header, needs);
  for (const auto& header : headers_of_templates())
    BOOST_TEST(needs.contains(header), header << " is installed, but no public header needs it");
}

BOOST_AUTO_TEST_CASE(examples_include_no_implementation_header) {
  const auto headers = headers_of_templates();
  const auto sources = example_sources();
  BOOST_TEST(sources.size() > 20u);
  for (const auto& source : sources)
    for (const auto& included : own_includes(contents(source)))
      BOOST_TEST(std::ranges::count(headers, included) == 0, source << " includes " << included);
}

// Unless it includes one of these, which are for programs that use the library themselves.
BOOST_AUTO_TEST_CASE(a_program_needs_no_header_of_another_library) {
  const std::map<std::string, std::string> exempt = {
      {"actors/simulation/simulation_test.h", "boost/test/"},
      {"schema/records/capnp_record.h", "capnp/"},
  };
  for (const auto& header : installed_headers()) {
    const auto library = exempt.find(header);
    for (const auto& included : foreign_includes(contents(header)))
      BOOST_TEST((library != exempt.end() && included.starts_with(library->second)),
                 header << " includes " << included);
    for (const auto& included : own_includes(contents(header)))
      BOOST_TEST(!exempt.contains(included), header << " includes " << included);
  }
}

BOOST_AUTO_TEST_CASE(internal_headers_stay_internal) {
  const auto headers = installed_headers();
  for (const auto* internal :
       {"schema/link.h", "schema/message.h", "schema/master.h", "actors/core/messages.h",
        "dataflow/transform/partition.h", "kernels/core/region.h"})
    BOOST_TEST(std::ranges::count(headers, internal) == 0, internal << " is public");
}

BOOST_AUTO_TEST_CASE(a_users_project_names_every_function) {
  const std::string names = contents("test/apps/user_project/names.cpp");
  std::size_t count = 0;
  for (const auto& header : installed_headers())
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
