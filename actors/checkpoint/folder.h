// The names of the files in a folder of checkpoints, and which of them stay.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "actors/checkpoint.h"

namespace actorflow {

std::string folder_of(const std::string& path);
std::string manifest_path(const std::string& folder, std::int64_t step);
// What the names of the files of a new checkpoint begin with: no valid checkpoint uses such files.
std::string free_file_prefix(Storage& storage, const std::string& folder, std::int64_t step);
// Of the k-th (from 1) of `count` files.
std::string data_file_name(const std::string& prefix, int k, int count);

// Removes what saving that was not completed has left: files of steps without a manifest.
void remove_leftovers(Storage& storage, const std::string& folder);

// One manifest of those of a checkpoint's files, in their order.
Manifest merge_manifests(std::span<const Manifest> parts, std::int64_t global_step);

// Makes a checkpoint valid, whose files stand, and then removes what is not to stay: older ones, and what
// crashes and the step's earlier version have left. Returns the path of the manifest.
std::string commit_checkpoint(Storage& storage, const std::string& folder, const Manifest& manifest,
                              const KeepOptions& keep);

}  // namespace actorflow
