#include "apps/cli/checks.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace actorflow {
namespace {

// Not CLI11's own, whose errors spell out the largest double, and which take NaN.
CLI::Validator number(const char* what, const char* name, bool (*fits)(double)) {
  return {[what, fits](std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
            if (is_number && fits(value)) return std::string();
            return fmt::format("expected {}, got '{}'", what, text);
          },
          name};
}

}  // namespace

CLI::Validator positive_number() {
  return number("a number above 0", "POSITIVE", [](double value) { return value > 0; });
}

CLI::Validator nonnegative_number() {
  return number("0 or a number above it", "NONNEGATIVE", [](double value) { return value >= 0; });
}

}  // namespace actorflow
