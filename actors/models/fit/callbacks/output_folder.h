// The folders that callbacks write to are tried before training.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "actors/checkpoint/folder.h"
#include "actors/models/fit/callback.h"
#include "actors/monitored/storage_error.h"
#include "actors/runtime/expect_path.h"

namespace actorflow {

// Makes the folder. Throws, with both names and the reason, if nothing can be written there; a full disk
// is no such reason.
inline void expect_output_folder(FitContext& training, std::string_view what,
                                 const std::string& folder) {
  with_storage_tries(training.runtime(), fmt::format("the check of the folder of {}", what),
                     [&] { expect_folder_for(what, training.storage(), folder); });
}

}  // namespace actorflow
