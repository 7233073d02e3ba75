// What a saved ensemble is, in a file beside its members, so that a program that loads it need not be
// told.
#pragma once

#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// As the flags of the program `ensemble` say it.
struct SavedEnsemble {
  std::string data;             // "digits": what it was asked to learn
  std::string path;             // where the data lie, absolute; "": they are the project's own
  std::string model, settings;  // "mlp", "hidden=64": all settings
  std::string method, vote, weights;
  int members = 0;
  bool passthrough = false;

  bool operator==(const SavedEnsemble&) const = default;
};

// Writes folder/ensemble.json. Throws what the storage throws.
void write_saved_ensemble(Storage& storage, const std::string& folder, const SavedEnsemble& saved);
// Removes that file, if it is there, so that no crash brings it back. Throws what the storage throws.
void remove_saved_ensemble(Storage& storage, const std::string& folder);
// None where there is no such file, as of earlier versions. Throws data_loss that names the file and the
// part that is not as expected.
std::optional<SavedEnsemble> read_saved_ensemble(Storage& storage, const std::string& folder);

}  // namespace actorflow
