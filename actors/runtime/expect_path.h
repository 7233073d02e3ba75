// The check of paths that a program gives.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {

// The path of a file or folder. Throws invalid_argument for an empty one, which would be the root
// folder, or files in it; `caller` begins the message: "Model::save".
inline std::string expect_path(std::string_view caller, std::string path) {
  if (path.empty()) throw invalid_argument(fmt::format("{}: expected a path, got ''", caller));
  return path;
}

}  // namespace actorflow
