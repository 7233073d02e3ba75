#include "schema/command_line/option.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "schema/command_line/explain.h"

namespace actorflow {
namespace {

bool is_too_large(const std::string& text) {
  std::uint64_t number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec ==
         std::errc::result_out_of_range;
}

// A transformation of the parser's, with an error that says what was expected.
CLI::Validator explained(const CLI::Validator& parser, const std::string& what) {
  const auto take = [parser, what](std::string& text) {
    const std::string given = text;
    try {
      if (!is_too_large(given) && parser(text).empty()) return std::string();
    } catch (const CLI::ValidationError&) {
    }
    return expected(what, given);
  };
  return CLI::Validator(take, parser.get_description());
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::check(const Check& check) {
  if (check.mistake) option_->check(check.mistake, check.name);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::in_group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::hide() { return in_group(""); }

Option& Option::from_environment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::excludes(const std::string& other) {
  option_->excludes(other);
  return *this;
}

Option& Option::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}

Option& Option::comma_separated() {
  option_->delimiter(',');
  return *this;
}

Option& Option::one_at_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::size() {
  option_->transform(explained(CLI::AsSizeValue(false), "a number of bytes such as 512MB"));
  return not_negative();
}

// In front of what else looks at the value.
Option& Option::not_negative() {
  const auto mistake = [](const std::string& text) {
    return text.starts_with('-') ? expected("0 or a number above it", text) : "";
  };
  option_->transform(CLI::Validator(mistake, ""));
  return *this;
}

Option& Option::time() {
  const std::map<std::string, std::int64_t> units{
      {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  const CLI::AsNumberWithUnit parser(units, CLI::AsNumberWithUnit::UNIT_REQUIRED, "TIME");
  option_->transform(explained(parser, "a time with its unit such as 20ms"));
  return *this;
}

Option& Option::each_time() {
  option_->trigger_on_parse();
  return *this;
}

}  // namespace actorflow
