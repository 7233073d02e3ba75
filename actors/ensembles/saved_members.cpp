#include "actors/ensembles/saved_members.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/newest_whole.h"
#include "actors/runtime/storage_tries.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

bool is_member_name(const std::string& name) {
  constexpr std::string_view before = "member-", digits = "0123456789";
  return name.starts_with(before) && name.size() > before.size() &&
         name.find_first_not_of(digits, before.size()) == std::string::npos;
}

// Throws data_loss that says what is damaged and nothing of an earlier checkpoint: an ensemble has none.
Checkpoint load_only(Storage& storage, const std::string& path) {
  try {
    return load_checkpoint(storage, path);
  } catch (const Error& error) {
    if (error.code() != Code::data_loss) throw;
    const auto damage = verify_checkpoint(storage, path);
    if (damage.empty()) throw;  // read well the second time
    throw Error(Code::data_loss, joined(damage, "; "));
  }
}

Error nothing_in(const std::string& folder) {
  return {Code::not_found, fmt::format("there is no {} '{}': expected what an ensemble has saved",
                                       is_folder(folder) ? "checkpoint in" : "folder", folder)};
}

// Of the ensemble's save of that number: a member of another save may be of another ensemble.
Checkpoint load_member(Storage& storage, const std::string& folder, std::int64_t number) {
  const std::string path = manifest_path(folder, number);
  return try_storage(sleep_on_machine, "loading " + path, [&] {
    if (storage.exists(path)) return load_only(storage, path);
    if (!latest_checkpoint(storage, folder)) throw nothing_in(folder);
    throw Error(
        Code::data_loss,
        fmt::format("'{}' is missing, the member of the ensemble's save number {}", path, number));
  });
}

// How weights differ from those of a network; "" if they do not.
std::string difference(const std::map<std::string, TensorType>& expected,
                       const std::map<std::string, Tensor>& weights) {
  for (const auto& [name, type] : expected) {
    const auto found = weights.find(name);
    if (found == weights.end()) return fmt::format("'{}' is missing", name);
    if (found->second.dtype() != type.dtype || found->second.shape() != type.shape)
      return fmt::format("expected '{}' to be {}, got {}", name, type.to_string(),
                         found->second.describe());
  }
  for (const auto& [name, tensor] : weights)
    if (!expected.contains(name)) return fmt::format("the model has no '{}'", name);
  return {};
}

// Throws failed_precondition for the weights of another network.
void expect_weights_of(const MemberNetwork& network, const Tuple& example,
                       const std::map<std::string, Tensor>& weights) {
  const std::string differs = difference(weight_types_of(network, types_of(example)), weights);
  if (!differs.empty()) throw Error(Code::failed_precondition, "it is of another model: " + differs);
}

// Networks that refuse the saved example throw invalid_argument.
bool is_of_another_model(const Error& error) {
  return error.code() == Code::failed_precondition || error.code() == Code::invalid_argument;
}

}  // namespace

std::string member_name(int member) { return fmt::format("member-{}", member); }

std::vector<std::string> member_folders(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code none_there;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none_there))
    if (is_member_name(entry.path().filename().string())) paths.push_back(entry.path());
  return paths;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Checkpoint load_newest(Storage& storage, const std::string& folder) {
  std::optional<Checkpoint> newest;
  restore_newest_with_tries(storage, folder, sleep_on_machine, [&](const std::string& path) {
    return newest.emplace(load_only(storage, path)).global_step;
  });
  return newest ? *std::move(newest) : throw nothing_in(folder);
}

SavedMembers load_members(Storage& storage, const std::string& folder, std::int64_t number,
                          const EnsembleState& state, const Tuple& example) {
  SavedMembers saved;
  int of_others = 0;
  for (int member = 0; member < state.options.members; ++member) {
    const std::string name = member_name(member);
    try {
      auto weights = load_member(storage, folder + "/" + name, number).tensors;
      expect_weights_of(state.networks[static_cast<std::size_t>(member)], example, weights);
      saved.weights[member] = std::move(weights);
    } catch (const Error& error) {
      saved.damaged.push_back(fmt::format("{}: {}", name, error.what()));
      if (is_of_another_model(error)) ++of_others;
    }
  }
  if (of_others == state.options.members)
    throw Error(Code::failed_precondition,
                fmt::format("{} is of another ensemble: {}; make the ensemble of the models that were "
                            "saved",
                            folder, saved.damaged[0]));
  return saved;
}

}  // namespace actorflow
