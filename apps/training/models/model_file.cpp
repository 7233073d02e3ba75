#include "apps/training/models/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "dataflow/graph/tensor_types.h"
#include "dataflow/values/error.h"
#include "schema/json.h"

namespace actorflow {
namespace {

JsonMembers members_of(const TrainedModel& model) {
  const auto& [example, label, classes, alphabet] = model.data;
  const auto bytes = std::as_bytes(std::span(alphabet));
  std::vector<std::int64_t> characters;
  for (const std::byte byte : bytes) characters.push_back(std::to_integer<std::int64_t>(byte));
  JsonMembers members{{"model", model.choice.name},
                      {"example", example.to_string()},
                      {"label", TensorType{DType::int64, label}.to_string()},
                      {"classes", classes},
                      {"alphabet", characters}};
  for (const auto& [name, value] : model.choice.settings) members.emplace_back("set " + name, value);
  return members;
}

// Throws what std::get and parsing throw.
TrainedModel model_of(const JsonMembers& members) {
  TrainedModel model;
  for (const auto& [name, value] : members) {
    const auto type = [&value = value] {
      return parse_tensor_types(std::get<std::string>(value)).at(0);
    };
    if (name == "model") model.choice.name = std::get<std::string>(value);
    if (name == "example") model.data.example = type();
    if (name == "label") model.data.label = type().shape;
    if (name == "classes") model.data.classes = std::get<std::int64_t>(value);
    if (name == "alphabet")
      for (const auto byte : std::get<std::vector<std::int64_t>>(value))
        model.data.alphabet += static_cast<char>(byte);
    if (name.starts_with("set ")) model.choice.settings[name.substr(4)] = std::get<std::string>(value);
  }
  if (model.data.classes < 1 || model.data.example.dtype == DType::invalid)
    throw Error(Code::data_loss, "it lacks 'example' or 'classes'");
  return model;
}

}  // namespace

std::string model_file_in(const std::string& folder) { return folder + "/model.json"; }

void write_model_file(Storage& storage, const std::string& folder, const TrainedModel& model) {
  const std::string text = json_object(members_of(model));
  storage.write_atomically(model_file_in(folder), std::as_bytes(std::span(text)));
}

TrainedModel read_model_file(Storage& storage, const std::string& folder) {
  const std::string path = model_file_in(folder);
  if (!storage.exists(path))
    throw Error(Code::not_found, fmt::format("there is no {}, which training writes", path));
  const auto bytes = storage.read(path);
  try {
    return model_of(parse_json_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  } catch (const std::exception& error) {
    throw Error(Code::data_loss, fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace actorflow
