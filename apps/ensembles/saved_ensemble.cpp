#include "apps/ensembles/saved_ensemble.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/json.h"

namespace actorflow {
namespace {

std::string path_in(const std::string& folder) { return folder + "/ensemble.json"; }

int members_of(std::int64_t number) {
  if (number < 1 || !std::in_range<int>(number))
    throw Error(Code::data_loss, fmt::format("'members' is no number of members: {}", number));
  return static_cast<int>(number);
}

// Throws what std::get throws.
SavedEnsemble ensemble_of(const JsonMembers& members) {
  SavedEnsemble saved;
  for (const auto& [name, value] : members) {
    for (const auto& [known, text] :
         {std::pair("data", &saved.data), std::pair("path", &saved.path),
          std::pair("model", &saved.model), std::pair("settings", &saved.settings),
          std::pair("method", &saved.method), std::pair("vote", &saved.vote),
          std::pair("weights", &saved.weights)})
      if (name == known) *text = std::get<std::string>(value);
    if (name == "members") saved.members = members_of(std::get<std::int64_t>(value));
    if (name == "passthrough") saved.passthrough = std::get<std::int64_t>(value) != 0;
  }
  for (const std::string* text : {&saved.data, &saved.model, &saved.method, &saved.vote})
    if (text->empty() || saved.members < 1)
      throw Error(Code::data_loss, "it lacks 'data', 'model', 'method', 'vote' or 'members'");
  return saved;
}

}  // namespace

void write_saved_ensemble(Storage& storage, const std::string& folder, const SavedEnsemble& saved) {
  const std::string text = json_object({{"data", saved.data},
                                        {"path", saved.path},
                                        {"model", saved.model},
                                        {"settings", saved.settings},
                                        {"method", saved.method},
                                        {"vote", saved.vote},
                                        {"weights", saved.weights},
                                        {"members", std::int64_t{saved.members}},
                                        {"passthrough", std::int64_t{saved.passthrough}}});
  storage.write_atomically(path_in(folder), std::as_bytes(std::span(text)));
}

void remove_saved_ensemble(Storage& storage, const std::string& folder) {
  if (!storage.exists(path_in(folder))) return;
  storage.remove(path_in(folder));
  storage.sync(folder);
}

std::optional<SavedEnsemble> read_saved_ensemble(Storage& storage, const std::string& folder) {
  const std::string path = path_in(folder);
  if (!storage.exists(path)) return std::nullopt;
  const auto bytes = storage.read(path);
  try {
    return ensemble_of(parse_json_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  } catch (const std::exception& error) {
    throw Error(Code::data_loss, fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace actorflow
