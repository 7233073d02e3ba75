// The names of the files in a folder of checkpoints, and which of them stay.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "actors/checkpoint/checkpoint.h"

namespace actorflow {

std::string folder_of(const std::string& path);
std::string manifest_path(const std::string& folder, std::int64_t step);
// What the names of the files of a new checkpoint begin with: no valid checkpoint uses such files, and
// no chief of another epoch makes any. Throws what Storage throws.
std::string free_file_prefix(Storage& storage, const std::string& folder, std::int64_t step,
                             std::int64_t epoch = 0);
// Of the k-th (from 1) of `count` files.
std::string data_file_name(const std::string& prefix, int k, int count);

// Throws failed_precondition or permission_denied, naming the folder and why, where no checkpoint can be
// saved; a full disk is no reason. Makes the folder. Throws disk_error for what may pass.
void expect_checkpoint_folder(Storage& storage, const std::string& folder);

// Removes what saving that was not completed has left: files of steps without a manifest, but not those
// of a newer epoch. What cannot be removed is logged and stays.
void remove_leftovers(Storage& storage, const std::string& folder, std::int64_t epoch = 0);
// The same for these files of a step, of which a manifest may have been published all the same: what it
// names stays, and everything where it cannot be read.
void remove_unpublished(Storage& storage, const std::string& folder, std::int64_t step,
                        std::span<const std::string> files);

// One manifest of those of a checkpoint's files, in their order.
Manifest merge_manifests(std::span<const Manifest> parts, std::int64_t global_step);

// Makes a checkpoint valid, whose files stand, and then removes what is not to stay: older ones, and
// what crashes and the step's earlier version have left, but nothing of a newer epoch. What cannot be
// removed is logged and stays. Returns the path of the manifest. Throws what Storage throws; then the
// manifest may stand or not.
std::string commit_checkpoint(Storage& storage, const std::string& folder, const Manifest& manifest,
                              const KeepOptions& keep, std::int64_t epoch = 0);

}  // namespace actorflow
