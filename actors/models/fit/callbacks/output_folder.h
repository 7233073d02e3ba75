// The folders that callbacks write to are tried before training.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "actors/checkpoint/folder.h"
#include "actors/models/fit/callback.h"
#include "actors/monitored/storage_error.h"
#include "dataflow/values/error.h"

namespace actorflow {

// The path, which names the folder or file of a callback. Throws invalid_argument for an empty one.
inline std::string expect_path(std::string_view callback, std::string path) {
  if (path.empty()) throw invalid_argument(fmt::format("{}: expected a path, got ''", callback));
  return path;
}

// Makes the folder. Throws, with both names and the reason, if nothing can be written there; a full disk
// is no such reason.
inline void expect_output_folder(FitContext& training, std::string_view what,
                                 const std::string& folder) {
  with_storage_tries(training.runtime(), fmt::format("the check of the folder of {}", what),
                     [&] { expect_folder_for(what, training.storage(), folder); });
}

}  // namespace actorflow
