// The checkpoints of a saved ensemble. For this folder only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble_state.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// The name of a member's folder within the ensemble's.
std::string member_name(int member);

bool is_folder(const std::string& path);

// The tensors of the only checkpoint in a folder. Throws not_found without one, and data_loss that says
// what is damaged.
std::map<std::string, Tensor> load_tensors(Storage& storage, const std::string& folder);

struct SavedMembers {
  std::map<int, std::map<std::string, Tensor>> weights{};  // by number
  std::vector<std::string> damaged{};  // those that cannot be used: a line with name and reason each
};

// The members of an ensemble that learned examples such as this one. Throws failed_precondition if all
// are of other models than the ensemble's.
SavedMembers load_members(Storage& storage, const std::string& folder, const EnsembleState& state,
                          const Tuple& example);

// The lines as one, with semicolons.
std::string joined(const std::vector<std::string>& lines);

}  // namespace actorflow
