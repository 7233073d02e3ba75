#include "schema/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <type_traits>
#include <utility>

#include "schema/command_line/explain.h"

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

// The type of what an option sets, be it always there or not, one value or a list.
template <class T>
struct ValueOf {
  using Type = T;
};
template <class T>
struct ValueOf<std::optional<T>> : ValueOf<T> {};
template <class T>
struct ValueOf<std::vector<T>> : ValueOf<T> {};

std::vector<std::string> long_names(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options)
    if (!option->get_lnames().empty()) names.push_back(option->get_lnames().front());
  return names;
}

}  // namespace

// What the parser finds out beside the values of options.
struct Command::Outcome {
  std::function<int()> chosen;
  // Where the words go that a command's options do not take.
  std::vector<std::pair<const CLI::App*, std::vector<std::string>*>> left_over;
};

Command::Command(std::shared_ptr<CLI::App> app, std::shared_ptr<Outcome> outcome)
    : app_(std::move(app)), outcome_(std::move(outcome)) {}

template <OptionValue T>
Option Command::option(const std::string& names, T& value, const std::string& help) {
  using Value = typename ValueOf<T>::Type;
  Option option(*app_->add_option(names, value, help));
  if constexpr (std::is_unsigned_v<Value>) option.not_negative();
  if constexpr (std::is_arithmetic_v<Value>) option.check(number_that_fits<Value>());
  return option;
}

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, int&, const std::string&);
template Option Command::option(const std::string&, std::int64_t&, const std::string&);
template Option Command::option(const std::string&, std::uint16_t&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Command::option(const std::string&, std::optional<int>&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option Command::option(const std::string&, std::optional<double>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, std::vector<int>&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option Command::option(const std::string&, std::map<std::int64_t, double>&, const std::string&);

Option Command::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(*app_->add_flag(names, value, help));
}

Option Command::action(const std::string& names, std::function<void(const std::string&)> take,
                       const std::string& help) {
  return Option(*app_->add_option_function<std::string>(names, take, help));
}

void Command::rest(std::vector<std::string>& words) {
  app_->prefix_command();
  outcome_->left_over.emplace_back(app_.get(), &words);
}

void Command::unknown(std::vector<std::string>& words) {
  app_->allow_extras();
  outcome_->left_over.emplace_back(app_.get(), &words);
}

Command Command::command(const std::string& name, const std::string& help) {
  app_->require_subcommand(app_->get_require_subcommand_min(), 1);
  return {app_->get_subcommand_ptr(app_->add_subcommand(name, help)), outcome_};
}

void Command::require_command() { app_->require_subcommand(1); }

// The parser calls those of inner commands first.
void Command::runs(std::function<int()> body) {
  app_->callback([outcome = outcome_.get(), body = std::move(body)] {
    if (!outcome->chosen) outcome->chosen = body;
  });
}

std::optional<Command> Command::find(const std::string& name) const {
  for (CLI::App* command : app_->get_subcommands([](const CLI::App*) { return true; }))
    if (command->check_name(name)) return Command(app_->get_subcommand_ptr(command), outcome_);
  return std::nullopt;
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::footer(std::function<std::string()> text) { app_->footer(std::move(text)); }

void Command::without_help() { app_->set_help_flag(); }

void Command::hide() { app_->group(""); }

// App::help() would show the command that was named.
std::string Command::help(const std::string& path) const {
  return app_->get_formatter()->make_help(app_.get(), path, CLI::AppFormatMode::Normal);
}

std::string Command::name() const { return app_->get_name(); }

std::vector<std::string> Command::options() const {
  return long_names(std::as_const(*app_).get_options());
}

std::vector<std::string> Command::given_options() const {
  return long_names(
      std::as_const(*app_).get_options([](const CLI::Option* option) { return option->count() > 0; }));
}

bool Command::takes_next(const std::string& word) const {
  const CLI::Option* option = app_->get_option_no_throw(word);
  return option && option->get_expected_min() > 0;
}

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
