#include "schema/signatures.h"

#include <nlohmann/json.hpp>

namespace actorflow {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Shape& shape) {
  if (!shape.has_rank()) return nullptr;
  Json dims = Json::array();
  for (const std::int64_t dim : shape.dims())
    dims.push_back(dim == Shape::unknown ? Json(nullptr) : Json(dim));
  return dims;
}

Json to_json(const std::map<std::string, TensorType>& tensors) {
  Json json = Json::object();
  for (const auto& [name, type] : tensors)
    json[name] = {{"dtype", to_string(type.dtype)}, {"shape", to_json(type.shape)}};
  return json;
}

}  // namespace

std::string encode_signatures(const std::map<std::string, ModelSignature>& signatures) {
  Json json = Json::object();
  for (const auto& [name, signature] : signatures)
    json[name] = {{"model", signature.model},
                  {"inputs", to_json(signature.inputs)},
                  {"outputs", to_json(signature.outputs)}};
  return Json{{"signatures", json}}.dump(2) + "\n";
}

}  // namespace actorflow
