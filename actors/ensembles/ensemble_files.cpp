// Ensembles as folders of checkpoints.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <exception>
#include <filesystem>
#include <system_error>

#include "actors/checkpoint/folder.h"
#include "actors/ensembles/saved_members.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

std::string path_of(const std::string& folder, const std::string& name) { return folder + "/" + name; }

std::string example_name(std::size_t input) {
  return input == 0 ? "example" : fmt::format("example_{}", input);
}

// The tensors that are saved beside the members.
std::map<std::string, Tensor> vote_tensors(const EnsembleState& state) {
  std::map<std::string, Tensor> tensors{
      {"members", Tensor::scalar<std::int64_t>(state.options.members)},
      {"method", Tensor::scalar<std::int64_t>(static_cast<int>(state.options.method))},
      {"vote", Tensor::scalar<std::int64_t>(static_cast<int>(state.vote))}};
  if (state.is_stacking())
    tensors["passthrough"] = Tensor::scalar<std::int64_t>(state.options.passthrough ? 1 : 0);
  for (std::size_t input = 0; input < state.example.size(); ++input)
    tensors[example_name(input)] = state.example[input];
  if (state.oob_score) tensors["oob_score"] = Tensor::scalar(*state.oob_score);
  if (state.regression) {
    tensors["regression/weights"] = state.regression->weights;
    tensors["regression/bias"] = state.regression->bias;
  }
  return tensors;
}

// A saved setting as text: `method` and `vote` by the names that programs use, others as numbers.
std::string text_of(const std::string& name, const Tensor& number) {
  static constexpr std::array methods{"full_data", "bagging", "stacking", "snapshot"};
  static constexpr std::array votes{"automatic", "soft", "hard", "mean"};
  const auto value = number.scalar<std::int64_t>();
  const auto named = [value](const auto& names) {
    const auto at = static_cast<std::size_t>(value);
    return at < names.size() ? names[at] : std::to_string(value);
  };
  return name == "method" ? named(methods) : name == "vote" ? named(votes) : std::to_string(value);
}

void expect_same(const std::string& folder, const std::map<std::string, Tensor>& saved,
                 const EnsembleState& state) {
  for (const auto& [name, own] :
       vote_tensors(EnsembleState{.options = state.options, .networks = {}, .vote = state.vote})) {
    const auto found = saved.find(name);
    if (found == saved.end() || !identical(found->second, own))
      throw Error(
          Code::failed_precondition,
          fmt::format("{} is of another ensemble: expected '{}' to be {}, got {}", folder, name,
                      text_of(name, own), found == saved.end() ? "none" : text_of(name, found->second)));
  }
}

const Tensor& tensor_in(const std::string& folder, const std::map<std::string, Tensor>& saved,
                        const std::string& name) {
  const auto found = saved.find(name);
  if (found == saved.end())
    throw Error(Code::failed_precondition,
                fmt::format("{} is of another ensemble: its '{}' is missing", folder, name));
  return found->second;
}

// The saved example. Throws failed_precondition unless it has as many inputs as the models.
Tuple examples_in(const std::string& folder, const std::map<std::string, Tensor>& saved,
                  std::size_t inputs) {
  Tuple example;
  for (std::size_t input = 0; input < inputs; ++input)
    example.push_back(tensor_in(folder, saved, example_name(input)));
  if (saved.contains(example_name(inputs)))
    throw Error(
        Code::failed_precondition,
        fmt::format("{} is of another ensemble: its models have more than {} inputs", folder, inputs));
  return example;
}

void expect_weight(const EnsembleState& state,
                   const std::map<int, std::map<std::string, Tensor>>& members) {
  for (const auto& [member, tensors] : members)
    if (state.weight_of(member) > 0) return;
  throw Error(Code::data_loss, "the members that are left have no weight in the vote");
}

// What is left to do about damaged members.
std::string advice(const EnsembleState& state, bool all_damaged) {
  const std::string anew = "train and save the ensemble again";
  return state.is_stacking() || all_damaged ? anew : "load it with DamagedMembers::left_out, or " + anew;
}

// Each save has a number, larger than all before, and counts once the vote has it: until then the
// members of the save before are there, too.
std::int64_t next_save(Storage& storage, const std::string& folder) {
  std::int64_t newest = newest_step(storage, path_of(folder, "vote"));
  for (const auto& member : member_folders(folder))
    newest = std::max(newest, newest_step(storage, member));
  return newest + 1;
}

// The tensors that stand beside the members, without which nothing can be loaded, and their save's
// number.
Checkpoint load_vote(Storage& storage, const std::string& folder) {
  if (!is_folder(folder))
    throw Error(Code::not_found,
                fmt::format("there is no folder '{}': expected what an ensemble has saved", folder));
  try {
    return load_newest(storage, path_of(folder, "vote"));
  } catch (const Error& error) {
    if (error.code() != Code::data_loss) throw;
    throw Error(Code::data_loss, fmt::format("{}; train and save the ensemble again", error.what()));
  }
}

// What other saves have left of a member: the ensemble is saved already.
void remove_earlier(Storage& storage, const std::string& folder, std::int64_t number) try {
  remove_checkpoints(storage, folder, number);
  std::error_code not_empty;
  std::filesystem::remove(folder, not_empty);
} catch (const std::exception& error) {
  spdlog::warn("weights of an earlier ensemble stay in {}: {}", folder, error.what());
}

}  // namespace

void Ensemble::save(const std::string& folder) const {
  expect_path("Ensemble::save", folder);
  state_->expect_trained();
  Storage& storage = posix_storage();
  const std::int64_t number = next_save(storage, folder);
  const KeepOptions all{.max_to_keep = 0}, newest{.max_to_keep = 1};
  for (const auto& [member, tensors] : state_->weights)
    save_checkpoint(storage, path_of(folder, member_name(member)),
                    {.global_step = number, .tensors = tensors}, all);
  save_checkpoint(storage, path_of(folder, "vote"),
                  {.global_step = number, .tensors = vote_tensors(*state_)}, newest);
  for (const auto& member : member_folders(folder)) remove_earlier(storage, member, number);
}

std::vector<std::string> Ensemble::load(const std::string& folder, DamagedMembers what) {
  expect_path("Ensemble::load", folder);
  Storage& storage = posix_storage();
  const Checkpoint vote = load_vote(storage, folder);
  const auto& saved = vote.tensors;
  expect_same(folder, saved, *state_);
  Tuple example = examples_in(folder, saved, state_->inputs());
  auto [weights, damaged] = load_members(storage, folder, vote.global_step, *state_, example);
  const bool needs_all = state_->is_stacking() || what == DamagedMembers::refused;
  if (!damaged.empty() && (needs_all || weights.empty()))
    throw Error(Code::data_loss, fmt::format("{} of {} members in {} cannot be used: {}; {}",
                                             damaged.size(), state_->options.members, folder,
                                             joined(damaged, "; "), advice(*state_, weights.empty())));
  expect_weight(*state_, weights);
  std::optional<LinearScores> regression;
  if (state_->is_stacking())
    regression = LinearScores{tensor_in(folder, saved, "regression/weights"),
                              tensor_in(folder, saved, "regression/bias")};
  state_->weights = std::move(weights);
  state_->example = std::move(example);
  state_->regression = std::move(regression);
  state_->histories.clear();
  state_->oob_score.reset();
  if (saved.contains("oob_score")) state_->oob_score = saved.at("oob_score").scalar<double>();
  return damaged;
}

}  // namespace actorflow
