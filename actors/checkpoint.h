// Checkpoints: the values of variables at one step, as a safetensors file and a manifest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "actors/storage.h"
#include "dataflow/tensor.h"

namespace actorflow {

struct Checkpoint {
  std::int64_t global_step = 0;
  std::map<std::string, Tensor> tensors;
};

// Writes `folder`/step-<n>.safetensors and then `folder`/step-<n>.manifest, which makes the checkpoint
// valid; keeps the newest `keep` of them. Throws what Storage throws; the earlier checkpoints stay
// whole. Returns the path of the manifest.
std::string save_checkpoint(Storage& storage, const std::string& folder, const Checkpoint& checkpoint,
                            int keep = 5);
// The newest checkpoint in the folder, or none. Throws data_loss, naming the file and what to do, if a
// file is not what the manifest says.
std::optional<Checkpoint> load_latest_checkpoint(Storage& storage, const std::string& folder);

// A hash of names, types and bytes: equal for bit-equal weights.
std::uint64_t hash_of(const std::map<std::string, Tensor>& tensors);

}  // namespace actorflow
