#include "schema/json.h"

#include <nlohmann/json.hpp>

namespace actorflow {

std::string json_object(const std::vector<std::pair<std::string, JsonValue>>& members) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& [key, value] : members)
    std::visit([&object, &key = key](const auto& content) { object[key] = content; }, value);
  return object.dump(2) + "\n";
}

}  // namespace actorflow
