#include "schema/command_line/check.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace actorflow {
namespace {

Check check_of(const CLI::Validator& validator) {
  return {validator.get_description(), [validator](const std::string& text) { return validator(text); }};
}

// Not CLI11's own, whose errors spell out the largest double, and which take NaN.
Check number(const std::string& what, const char* name, bool (*fits)(double)) {
  return {name, [what, fits](const std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
            return is_number && fits(value) ? "" : "expected " + what + ", got '" + text + "'";
          }};
}

}  // namespace

Check positive_number() {
  return number("a number above 0", "POSITIVE", [](double value) { return value > 0; });
}

Check nonnegative_number() {
  return number("0 or a number above it", "NONNEGATIVE", [](double value) { return value >= 0; });
}

template <OneOfTypes<int, std::int64_t, std::size_t, double> Number>
Check in_range(Number least, Number most) {
  return check_of(CLI::Range(least, most));
}

template Check in_range(int, int);
template Check in_range(std::int64_t, std::int64_t);
template Check in_range(std::size_t, std::size_t);
template Check in_range(double, double);

Check one_of(const std::vector<std::string>& texts) { return check_of(CLI::IsMember(texts)); }

Check existing_file() { return check_of(CLI::ExistingFile); }

}  // namespace actorflow
