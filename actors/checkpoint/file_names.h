// The names of the files that a checkpoint consists of, and what they tell of the checkpoints in a
// folder. For this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

// The parts of "step-<n>[.epoch-<e>]<suffix>"; a negative step for all other names: people keep pictures
// and notes beside a checkpoint, and name them after its step.
struct FileName {
  explicit FileName(std::string_view name);

  bool is_manifest() const;

  std::int64_t step;
  std::int64_t epoch;  // 0 without one
  std::string_view suffix;
};

// "step-<n>[.epoch-<e>]"
std::string name_begin(std::int64_t step, std::int64_t epoch);
std::string manifest_name(std::int64_t step, std::int64_t epoch);

// Oldest first. Epoch 0 belongs to no chief who could be late: what somebody saves so on purpose counts,
// and comes last (0 - 1 is the largest unsigned number).
struct ByEpoch {
  static std::uint64_t age(std::int64_t epoch) { return static_cast<std::uint64_t>(epoch - 1); }
  bool operator()(std::int64_t a, std::int64_t b) const { return age(a) < age(b); }
};

// By step, the epochs of its manifests: the last one counts.
using SavedSteps = std::map<std::int64_t, std::set<std::int64_t, ByEpoch>>;
SavedSteps saved_among(const std::vector<std::string>& names);

// The steps that a chief of a newer epoch has gone back behind: it has saved an earlier one. Their own
// chief was stopped before it published them, or they were damaged when the newer one looked; either way
// training has gone on without them. Epoch 0 belongs to no chief who could be late.
std::set<std::int64_t> overruled_steps(const SavedSteps& saved);

}  // namespace actorflow
