// The checkpoints of a saved ensemble. For this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/ensembles/ensemble_state.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// The name of a member's folder within the ensemble's.
std::string member_name(int member);

bool is_folder(const std::string& path);

// The checkpoint of that number in a folder, by default the newest. Throws not_found without any, and
// data_loss that says what is damaged, or that only others are there.
Checkpoint load_saved(Storage& storage, const std::string& folder,
                      std::optional<std::int64_t> number = std::nullopt);

struct SavedMembers {
  std::map<int, std::map<std::string, Tensor>> weights{};  // by number
  std::vector<std::string> damaged{};  // those that cannot be used: a line with name and reason each
};

// The members, of the save of that number, of an ensemble that learned examples such as this one. Throws
// failed_precondition if all are of other models than the ensemble's.
SavedMembers load_members(Storage& storage, const std::string& folder, std::int64_t number,
                          const EnsembleState& state, const Tuple& example);

}  // namespace actorflow
