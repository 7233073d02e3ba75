#include "schema/json_tree.h"

#include <nlohmann/json.hpp>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const JsonTree& tree);

Json json_of(const JsonTree::List& list) {
  Json json = Json::array();
  for (const auto& element : list) json.push_back(json_of(element));
  return json;
}

Json json_of(const JsonTree::Object& object) {
  Json json = Json::object();
  for (const auto& [name, member] : object) json[name] = json_of(member);
  return json;
}

Json json_of(const auto& plain) { return plain; }

Json json_of(const JsonTree& tree) {
  return std::visit([](const auto& value) { return json_of(value); }, tree.value());
}

std::string dump(const JsonTree& tree, int indentation) {
  try {
    return json_of(tree).dump(indentation);
  } catch (const Json::type_error& error) {
    throw invalid_argument(std::string("JSON has texts in UTF-8 only: ") + error.what());
  }
}

}  // namespace

std::string JsonTree::to_string() const { return dump(*this, -1); }

std::string JsonTree::to_string(int indentation) const { return dump(*this, indentation) + "\n"; }

}  // namespace actorflow
