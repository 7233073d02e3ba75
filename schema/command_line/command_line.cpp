#include "schema/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "schema/command_line/explain.h"
#include "schema/command_line/outcome.h"

namespace actorflow {
namespace {

// The last one first, as CLI11 parses them. "--name=" becomes a name and an empty value, since CLI11
// would take the next flag for its value.
std::vector<std::string> backward(std::vector<std::string> arguments) {
  std::vector<std::string> backward;
  for (auto argument = arguments.rbegin(); argument != arguments.rend(); ++argument) {
    if (argument->starts_with("--") && argument->find('=') == argument->size() - 1) {
      backward.emplace_back();
      argument->pop_back();
    }
    backward.push_back(std::move(*argument));
  }
  return backward;
}

}  // namespace

CommandLine::CommandLine(const std::string& help, const std::string& name)
    : Command(std::make_shared<CLI::App>(help, name), std::make_shared<Outcome>()) {}

void CommandLine::version(const std::string& number) {
  app_->set_version_flag("--version", name() + " " + number);
}

void CommandLine::read_file(const std::string& path) {
  app_->set_config("--options", path, "", true);
  app_->allow_config_extras(CLI::config_extras_mode::error);
}

void CommandLine::parse(std::vector<std::string> arguments) {
  try {
    app_->parse(backward(std::move(arguments)));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw CommandLineError(explain(*app_, error), named_command(*app_));
    std::ostringstream help;
    app_->exit(error, help);
    throw HelpRequest{help.str()};
  }
  for (const auto& [command, words] : outcome_->left_over) *words = command->remaining();
}

const std::function<int()>& CommandLine::chosen() const { return outcome_->chosen; }

}  // namespace actorflow
