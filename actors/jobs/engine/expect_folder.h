// Paths that are to be folders, or are not there yet.
#pragma once

#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// Throws invalid_argument where the path, or what is on the way to it, is a file: `what` says what the
// folder is for and which it may be, "the output", "a folder that is empty or not there". An empty path
// is no folder's.
void expect_folder(Storage& storage, const std::string& what, const std::string& expected,
                   const std::string& path);

}  // namespace actorflow
