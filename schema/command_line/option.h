// An option of a command line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/command_line/check.h"

namespace CLI {
class Option;
}

namespace actorflow {

// What an option can set. A list, and a map by pairs, takes all values up to the next option.
template <class T>
concept OptionValue =
    OneOfTypes<T, std::string, int, std::int64_t, std::uint16_t, std::uint64_t, double,
               std::optional<std::string>, std::optional<int>, std::optional<std::int64_t>,
               std::optional<std::uint64_t>, std::optional<double>, std::vector<std::string>,
               std::vector<int>, std::vector<std::int64_t>, std::map<std::int64_t, double>>;

// Refers to an option of a Command, and lives as long. Each function that changes it returns it.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required();
  // Check{} checks nothing.
  Option& check(const Check& check);
  // The value that the variable has now is the default in the help.
  Option& show_default();
  // In the help, under this heading.
  Option& in_group(const std::string& heading);
  // Not in the help.
  Option& hide();
  // An environment variable gives the value where the arguments do not.
  Option& from_environment(const std::string& variable);
  Option& excludes(const std::string& other);
  Option& needs(const std::string& other);

  // Of a list: "a,b" is two values.
  Option& comma_separated();
  // Of a list: one value at a time, each after the option's name.
  Option& one_at_a_time();
  // Of a number of bytes: understands 64KB, 16GiB, ...
  Option& size();
  // Of a number without a sign, which the parser would take "-1" for the largest of.
  Option& not_negative();
  // Of a number of nanoseconds: has a unit, as in 20ms or 5s.
  Option& time();
  // Of an action: is called each time that the option is given, which otherwise may be once.
  Option& each_time();

 private:
  CLI::Option* option_;
};

}  // namespace actorflow
