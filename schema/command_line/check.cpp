#include "schema/command_line/check.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <type_traits>

#include "schema/command_line/explain.h"

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
            return is_number && fits(value) ? "" : expected(what, text);
          }};
}

// As the parser takes it, which makes 0 of "", and of a number that is too large the largest, or
// infinity.
template <class Number>
bool is_read_whole(const std::string& text) {
  Number value{};
  errno = 0;
  return !text.empty() && CLI::detail::lexical_cast(text, value) && errno != ERANGE &&
         std::isfinite(value);
}

template <class Number>
std::string name_of_number(const std::string& text) {
  Number value{};
  if (std::is_floating_point_v<Number>)
    return CLI::detail::lexical_cast(text, value) && !std::isfinite(value) ? "a finite number"
                                                                           : "a number";
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc::result_out_of_range || behind != end) return "a whole number";
  std::ostringstream limits;
  limits << "a whole number from " << std::numeric_limits<Number>::min() << " to "
         << std::numeric_limits<Number>::max();
  return limits.str();
}

}  // namespace

template <OneOfTypes<int, std::int64_t, std::uint16_t, std::uint64_t, double> Number>
Check number_that_fits() {
  return {"", [](const std::string& text) {
            return is_read_whole<Number>(text) ? "" : expected(name_of_number<Number>(text), text);
          }};
}

template Check number_that_fits<int>();
template Check number_that_fits<std::int64_t>();
template Check number_that_fits<std::uint16_t>();
template Check number_that_fits<std::uint64_t>();
template Check number_that_fits<double>();

Check positive_number() {
  return number("a number above 0", "POSITIVE", [](double value) { return value > 0; });
}

Check nonnegative_number() {
  return number("0 or a number above it", "NONNEGATIVE", [](double value) { return value >= 0; });
}

template <OneOfTypes<int, std::int64_t, std::size_t, double> Number>
Check in_range(Number least, Number most) {
  std::ostringstream limits;
  limits << "a number from " << least << " to " << most;
  return {CLI::Range(least, most).get_description(),
          [least, most, what = limits.str()](const std::string& text) {
            Number value{};
            const bool fits = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
            return fits ? "" : expected(what, text);
          }};
}

template Check in_range(int, int);
template Check in_range(std::int64_t, std::int64_t);
template Check in_range(std::size_t, std::size_t);
template Check in_range(double, double);

Check one_of(const std::vector<std::string>& texts) { return check_of(CLI::IsMember(texts)); }

Check existing_file() { return check_of(CLI::ExistingFile); }

}  // namespace actorflow
