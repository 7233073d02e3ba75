// The commands that READMEs show to users: each program is there, and knows the flags that it is given.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "test/apps/support/command_lines.h"
#include "test/apps/support/documents.h"
#include "test/apps/support/process.h"

BOOST_AUTO_TEST_SUITE(readme_commands)

using namespace actorflow::test;

namespace {

struct Command {
  std::vector<std::string> words;  // the program and what stands before the first flag
  std::vector<std::string> flags;  // without their values
};

// A line starts several programs if one of them is told to start another.
void add_commands(const std::string& line, std::vector<Command>& commands) {
  static const std::regex program("build/bin/(.*)|(actorflow|trainer)"), word("[a-z][a-z0-9_]*"),
      flag("(--[a-z_-]+)(=.*)?");
  std::istringstream tokens(line.substr(0, line.find(" #")));
  bool is_command = false;
  for (std::string token; tokens >> token;) {
    std::smatch match;
    if (std::regex_match(token, match, program)) {
      commands.push_back({{match[match[1].matched ? 1 : 2]}, {}});
      is_command = true;
    } else if (token == "&&" || token == "|" || token == "&") {
      is_command = false;
    } else if (is_command && std::regex_match(token, match, flag)) {
      commands.back().flags.push_back(match[1]);
    } else if (is_command && commands.back().flags.empty() && std::regex_match(token, word)) {
      commands.back().words.push_back(token);
    }
  }
}

std::vector<Command> commands_of(std::istream& document) {
  std::vector<Command> commands;
  for (const std::string& line : command_lines(document)) add_commands(line, commands);
  return commands;
}

// Those of the test and benchmark folders are for who works on the project: their programs are not
// among what this test builds.
bool is_for_users(const std::filesystem::path& document) {
  const auto path = document.lexically_relative(ACTORFLOW_SOURCE_DIR);
  return path.filename() == "README.md" && *path.begin() != "test" && *path.begin() != "bench";
}

struct Printed {
  std::string document;
  Command command;
};

std::vector<Printed> printed_commands() {
  std::vector<Printed> printed;
  for (const auto& document : all_documents()) {
    if (!is_for_users(document)) continue;
    std::ifstream text(document);
    for (const Command& command : commands_of(text)) printed.push_back({document.string(), command});
  }
  return printed;
}

// Scripts of the project with which a line begins, such as bench/run.
std::vector<std::filesystem::path> printed_scripts() {
  static const std::regex script("(apps|bench|test)/[a-z_/]+");
  std::vector<std::filesystem::path> scripts;
  for (const auto& document : all_documents()) {
    std::ifstream text(document);
    for (const std::string& line : command_lines(text))
      if (const std::string first = line.substr(0, line.find(' ')); std::regex_match(first, script))
        scripts.emplace_back(std::filesystem::path(ACTORFLOW_SOURCE_DIR) / first);
  }
  return scripts;
}

std::string text_of(const Command& command) {
  std::string text;
  for (const auto& word : command.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string help_of(const Command& command) {
  auto words = command.words;
  words.emplace_back("--help");
  Process process(words);
  BOOST_TEST(process.wait() == 0, text_of(command) << ": " << process.output());
  return process.output();
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_program_knows_the_flags_that_the_readmes_give_it) {
  const std::vector<Printed> printed = printed_commands();
  BOOST_TEST(printed.size() > 60u);
  std::map<std::string, std::string> helps;  // of many commands there is one
  for (const auto& [document, command] : printed) {
    const std::string text = text_of(command);
    if (!helps.contains(text)) helps[text] = help_of(command);
    for (const auto& flag : command.flags)
      BOOST_TEST(
          helps[text].find(flag) != std::string::npos,
          document << " gives " << text << " the flag " << flag << ", which its help does not have");
  }
}

BOOST_AUTO_TEST_CASE(each_script_that_documents_start_is_there) {
  const auto scripts = printed_scripts();
  BOOST_TEST(scripts.size() > 5u);
  for (const auto& script : scripts) BOOST_TEST(access(script.c_str(), X_OK) == 0, script.string());
}

BOOST_AUTO_TEST_CASE(commands_are_told_from_other_text) {
  std::istringstream document(
      "build/bin/no --no\n```cpp\nbuild/bin/no --no\n```\n  ```\nX=1 build/bin/one go --a=1 on --b \\\n"
      "  build/bin/two | three --no  # build/bin/no\nactorflow go\n  ```\nbuild/bin/no\n");
  const std::vector<Command> commands = commands_of(document);
  BOOST_TEST_REQUIRE(commands.size() == 3u);
  BOOST_TEST(text_of(commands[0]) == "one go");
  BOOST_TEST((commands[0].flags == std::vector<std::string>{"--a", "--b"}));
  BOOST_TEST(text_of(commands[1]) == "two");
  BOOST_TEST(commands[1].flags.empty());
  BOOST_TEST(text_of(commands[2]) == "actorflow go");
}

BOOST_AUTO_TEST_SUITE_END()
