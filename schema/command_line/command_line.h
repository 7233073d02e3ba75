// The command line of a program: options, commands, help, and what is wrong with arguments.
//
//   CommandLine line("Adds numbers up", "adder");
//   int rounds = 1;
//   line.option("--rounds,-r", rounds, "How often").check(positive_number()).show_default();
//   line.parse({argv + 1, argv + argc});
//
// The parser is CLI11's, which only the sources of this folder include: it takes the compiler longer
// than most programs do. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "schema/command_line/option.h"

namespace CLI {
class App;
}

namespace actorflow {

// Arguments that a command line does not understand. what() says what was expected, and what came.
class CommandLineError : public std::runtime_error {
 public:
  CommandLineError(const std::string& mistake, std::string command)
      : std::runtime_error(mistake), command_(std::move(command)) {}
  // The one that did not understand, as in "actorflow train mnist": its --help says what it does.
  const std::string& command() const { return command_; }

 private:
  std::string command_;
};

// What --help or --version asked for. Thrown by parse(): no error, but the program's other work is off.
struct HelpRequest {
  std::string text;
};

// What a program, or a command of it, understands. Variables that it sets outlive the parsing. Names of
// an option are divided by commas: "--steps,-s"; one without dashes is for arguments without an option.
// Copies are the same command.
class Command {
 public:
  template <OptionValue T>
  Option option(const std::string& names, T& value, const std::string& help = "");
  // True if it is given.
  Option flag(const std::string& names, bool& value, const std::string& help = "");
  // `take` is called with the value; what it throws, parse() throws.
  Option action(const std::string& names, std::function<void(const std::string&)> take,
                const std::string& help);
  // Takes a name of `by_name`, and sets what it stands for.
  template <class T>
  Option choice(const std::string& names, T& value, const std::map<std::string, T>& by_name,
                const std::string& help) {
    const auto take = [&value, by_name](const std::string& name) { value = by_name.at(name); };
    return action(names, take, help).check(one_of(by_name));
  }
  // The words from the first one on that is neither an option nor the value of one.
  void rest(std::vector<std::string>& words);
  // The options that are not known, and arguments that nothing takes.
  void unknown(std::vector<std::string>& words);

  // A command below this one, of which arguments name at most one.
  Command command(const std::string& name, const std::string& help);
  // Arguments must name one.
  void require_command();
  // What is to be done if this command is named, and none below it that does something. `body` returns
  // the exit status. It must not hold a Command, which would hold it.
  void runs(std::function<int()> body);
  // A command below this one. None if there is none of that name.
  std::optional<Command> find(const std::string& name) const;

  // The end of the help.
  void footer(const std::string& text);
  void footer(std::function<std::string()> text);
  // --help is an argument like others.
  void without_help();
  // Not in the help of what is above it.
  void hide();
  // The help of a command that is called by `path`, such as "actorflow train".
  std::string help(const std::string& path) const;

  std::string name() const;
  // The options by their first long names, such as "split-bytes": all, and, after parse(), those that
  // arguments or a file have given.
  std::vector<std::string> options() const;
  std::vector<std::string> given_options() const;
  // Whether `word` is an option whose value is the next word.
  bool takes_next(const std::string& word) const;

 protected:
  struct Outcome;
  Command(std::shared_ptr<CLI::App> app, std::shared_ptr<Outcome> outcome);

  std::shared_ptr<CLI::App> app_;
  std::shared_ptr<Outcome> outcome_;
};

class CommandLine : public Command {
 public:
  // An empty name is that of no program.
  explicit CommandLine(const std::string& help, const std::string& name = "");

  // --version prints the program's name and this.
  void version(const std::string& number);
  // parse() reads lines "option = value" from there, too; arguments come before them.
  void read_file(const std::string& path);
  // Sets the variables. Throws CommandLineError and HelpRequest. "--name=" gives an empty value.
  void parse(std::vector<std::string> arguments);
  // After parse(): what the command that was named is to do; empty if none was.
  const std::function<int()>& chosen() const;
};

}  // namespace actorflow
