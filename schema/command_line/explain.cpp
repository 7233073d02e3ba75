#include "schema/command_line/explain.h"

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

const CLI::App& innermost_command(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return below.empty() ? app : innermost_command(*below.front());
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());  // no group: hidden
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// "; did you mean 'x'?", or "".
std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  return did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string explain_command(const std::vector<std::string>& known,
                            const std::vector<std::string>& rest) {
  const std::string expected = "expected one of " + CLI::detail::join(known, ", ");
  if (rest.empty()) return expected;
  if (rest[0].starts_with("-")) return expected + " before " + actorflow::quoted(rest[0]);
  return expected + ", got " + actorflow::quoted(rest[0]) + nearest(rest[0], known);
}

}  // namespace

std::string expected(const std::string& what, const std::string& text) {
  return "expected " + what + ", got '" + text + "'";
}

std::string named_command(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return app.get_name() + (below.empty() ? "" : " " + named_command(*below.front()));
}

// Of a line of a file, "option = value".
std::string explain_line(const std::string& message) {
  constexpr std::string_view unknown = "INI was not able to parse ";
  if (!message.starts_with(unknown)) return message;
  return "there is no option " + actorflow::quoted(message.substr(unknown.size())) +
         "; a line is option = value";
}

// CLI11 names what is left over from behind, and not what could have been there.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost_command(app);
  const std::vector<std::string> rest = app.remaining(true), known = commands_of(command);
  const bool is_word = !rest.empty() && !rest[0].starts_with("-");
  if (!known.empty() && (is_word || &command != &app)) return explain_command(known, rest);
  const bool is_rest = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (!is_rest || rest.empty()) return explain_line(error.what());
  return "did not expect " + actorflow::quoted(CLI::detail::join(rest, " ")) +
         nearest(rest[0].substr(0, rest[0].find('=')), options_of(command));
}

}  // namespace actorflow
