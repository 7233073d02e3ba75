#include "apps/training/models/model_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace actorflow {
namespace {

std::optional<std::int64_t> positive(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

}  // namespace

ModelSettings parse_settings(const std::vector<std::string>& texts) {
  ModelSettings settings;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw invalid_argument(fmt::format("expected key=value, got '{}'", text));
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

std::string to_string(const ModelSettings& settings) {
  std::string text;
  for (const auto& [name, value] : settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

SettingsReader::SettingsReader(std::string model, const ModelSettings& given,
                               const ModelSettings& defaults)
    : model_(std::move(model)), settings_(defaults) {
  for (const auto& [name, value] : given) {
    if (!defaults.contains(name))
      throw invalid_argument(fmt::format("the model {} has no setting '{}'; it has {}", model_, name,
                                         defaults.empty() ? "none" : to_string(defaults)));
    settings_[name] = value;
  }
}

std::vector<std::int64_t> SettingsReader::numbers(const std::string& name) const {
  const std::string& text = settings_.at(name);
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = positive(std::string_view(text).substr(begin, end - begin));
    if (!number) throw not_numbers(name, "numbers of 1 or more, divided by commas,");
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

std::int64_t SettingsReader::number(const std::string& name) const {
  const auto number = positive(settings_.at(name));
  if (!number) throw not_numbers(name, "a number of 1 or more");
  return *number;
}

Error SettingsReader::not_numbers(const std::string& name, const char* expected) const {
  return invalid_argument(fmt::format("the model {}: expected {} for {}, got '{}'", model_, expected,
                                      name, settings_.at(name)));
}

}  // namespace actorflow
