// The checkpoints of a saved ensemble. For this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/ensembles/ensemble_state.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// The name of a member's folder within the ensemble's.
std::string member_name(int member);

// The paths of the members' folders, also of those of larger ensembles that were saved there before.
std::vector<std::string> member_folders(const std::string& folder);

bool is_folder(const std::string& path);

// The newest whole checkpoint in a folder (load_newest_whole_checkpoint()). Throws not_found without
// any, and data_loss that says what is damaged if none is whole.
Checkpoint load_newest(Storage& storage, const std::string& folder);

struct SavedMembers {
  std::map<int, std::map<std::string, Tensor>> weights{};  // by number
  std::vector<std::string> damaged{};  // those that cannot be used: a line with name and reason each
};

// The members, of the save of that number, of an ensemble that learned examples such as this one. Throws
// failed_precondition if all are of other models than the ensemble's.
SavedMembers load_members(Storage& storage, const std::string& folder, std::int64_t number,
                          const EnsembleState& state, const Tuple& example);

}  // namespace actorflow
