// Tables of flags: each flag is written once, as a row, from which come its parsing, its help, and the
// arguments that hand it on to another program.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/program.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

// A table of flags whose values are members of `Flags`. A member's initial value is the flag's default.
template <class Flags>
class FlagTable {
 public:
  // A flag with a value: a number, a text, a list divided by commas. Its default stands in the help, but
  // for an optional and for an empty text. `names`: without dashes, divided by commas, the one that
  // arguments() writes first; each is understood with - and with _.
  template <class T>
  FlagTable& value(const std::string& names, T Flags::*member, const std::string& what,
                   const Check& check = {});
  // A flag that may be given several times, each time with a text.
  FlagTable& repeated(const std::string& names, std::vector<std::string> Flags::*member,
                      const std::string& what);
  // A number of bytes, also in the form 16GiB.
  FlagTable& size(const std::string& names, std::size_t Flags::*member, const std::string& what);
  // A flag without a value: given or not.
  FlagTable& present(const std::string& names, bool Flags::*member, const std::string& what);

  void add_to(Command& command, Flags& flags) const;
  // The arguments that reproduce these flags in a program with the same table: the flags that differ
  // from Flags{}, of which the parser refuses some values.
  std::vector<std::string> arguments(const Flags& flags) const;

 private:
  struct Row {
    std::function<void(Command&, Flags&)> declare;
    std::function<std::vector<std::string>(const Flags&)> arguments;  // none where it is as in Flags{}
  };
  std::vector<Row> rows_;
};

// "--a-b,--a_b,--c" for "a-b,c".
std::string all_spellings(const std::string& names);
// "--a-b" for "a-b,c".
std::string first_spelling(const std::string& names);

namespace flag {

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

template <class T>
std::string as_text(const T& value) {
  if constexpr (is_optional<T>)
    return as_text(value.value());
  else if constexpr (is_list<T>)
    return fmt::format("{}", fmt::join(value, ","));
  else
    return fmt::format("{}", value);
}

}  // namespace flag

template <class Flags>
template <class T>
FlagTable<Flags>& FlagTable<Flags>::value(const std::string& names, T Flags::*member,
                                          const std::string& what, const Check& check) {
  rows_.push_back({[=](Command& command, Flags& flags) {
                     Option option = command.option(all_spellings(names), flags.*member, what);
                     option.check(check);
                     if constexpr (flag::is_list<T>) option.comma_separated();
                     if constexpr (!flag::is_optional<T>)
                       if (!flag::as_text(flags.*member).empty()) option.show_default();
                   },
                   [=](const Flags& flags) {
                     std::vector<std::string> arguments;
                     if (flags.*member != Flags{}.*member)
                       arguments.push_back(first_spelling(names) + "=" + flag::as_text(flags.*member));
                     return arguments;
                   }});
  return *this;
}

template <class Flags>
FlagTable<Flags>& FlagTable<Flags>::repeated(const std::string& names,
                                             std::vector<std::string> Flags::*member,
                                             const std::string& what) {
  rows_.push_back({[=](Command& command, Flags& flags) {
                     command.option(all_spellings(names), flags.*member, what).one_at_a_time();
                   },
                   [=](const Flags& flags) {
                     std::vector<std::string> arguments;
                     for (const auto& text : flags.*member)
                       arguments.push_back(first_spelling(names) + "=" + text);
                     return arguments;
                   }});
  return *this;
}

template <class Flags>
FlagTable<Flags>& FlagTable<Flags>::size(const std::string& names, std::size_t Flags::*member,
                                         const std::string& what) {
  value(names, member, what);
  rows_.back().declare = [=](Command& command, Flags& flags) {
    command.option(all_spellings(names), flags.*member, what).size().show_default();
  };
  return *this;
}

template <class Flags>
FlagTable<Flags>& FlagTable<Flags>::present(const std::string& names, bool Flags::*member,
                                            const std::string& what) {
  rows_.push_back(
      {[=](Command& command, Flags& flags) { command.flag(all_spellings(names), flags.*member, what); },
       [=](const Flags& flags) {
         return flags.*member ? std::vector{first_spelling(names)} : std::vector<std::string>();
       }});
  return *this;
}

template <class Flags>
void FlagTable<Flags>::add_to(Command& command, Flags& flags) const {
  for (const Row& row : rows_) row.declare(command, flags);
}

template <class Flags>
std::vector<std::string> FlagTable<Flags>::arguments(const Flags& flags) const {
  std::vector<std::string> arguments;
  for (const Row& row : rows_) std::ranges::move(row.arguments(flags), std::back_inserter(arguments));
  return arguments;
}

}  // namespace actorflow
