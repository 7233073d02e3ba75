#include "schema/json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::vector<double> doubles_of(const nlohmann::ordered_json& array) {
  std::vector<double> values;
  for (const auto& element : array)
    values.push_back(element.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                       : element.get<double>());
  return values;
}

JsonValue value_of(const nlohmann::ordered_json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
    return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const auto is_integer = [](const auto& element) {
    return element.is_number_integer() &&
           !(element.is_number_unsigned() && element.template get<std::uint64_t>() > INT64_MAX);
  };
  const auto is_string = [](const auto& element) { return element.is_string(); };
  if (json.is_array() && !json.empty() && std::ranges::all_of(json, is_string))
    return json.get<std::vector<std::string>>();
  if (json.is_array() && !std::ranges::all_of(json, is_integer)) return doubles_of(json);
  return json.get<std::vector<std::int64_t>>();
}

// Names the member that is no text in UTF-8, with its readable characters.
std::string strange_member(const nlohmann::ordered_json& object) {
  using Handler = nlohmann::ordered_json::error_handler_t;
  for (const auto& [key, value] : object.items()) {
    auto member = nlohmann::ordered_json::object();
    member[key] = value;
    const std::string readable = member.dump(-1, ' ', false, Handler::replace);
    if (readable != member.dump(-1, ' ', false, Handler::ignore)) return readable;
  }
  return {};
}

}  // namespace

std::string json_object(const JsonMembers& members) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& [key, value] : members)
    std::visit([&object, &key = key](const auto& content) { object[key] = content; }, value);
  try {
    return object.dump(2) + "\n";
  } catch (const nlohmann::json::type_error&) {
    throw invalid_argument("JSON has texts in UTF-8 only, got " + strange_member(object));
  }
}

JsonMembers parse_json_object(const std::string& text) {
  try {
    const auto object = nlohmann::ordered_json::parse(text);
    if (!object.is_object())
      throw Error(Code::data_loss, "expected a JSON object, got: " + text.substr(0, 100));
    JsonMembers members;
    for (const auto& [key, value] : object.items()) members.emplace_back(key, value_of(value));
    return members;
  } catch (const nlohmann::json::exception& error) {
    throw Error(Code::data_loss, "no JSON object of plain values: " + json_mistake(error.what()));
  }
}

std::string json_mistake(const std::string& what) { return what.substr(what.find("] ") + 2); }

}  // namespace actorflow
