// The files in a folder of checkpoints: their names, and which of them are kept.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"

namespace actorflow {

std::string folder_of(const std::string& path);
std::string manifest_path(const std::string& folder, std::int64_t step, std::int64_t epoch = 0);
// The prefix of the file names of a new checkpoint, which no valid checkpoint and no chief of another
// epoch uses. Throws what Storage throws.
std::string free_file_prefix(Storage& storage, const std::string& folder, std::int64_t step,
                             std::int64_t epoch = 0);
// The name of the k-th (from 1) of `count` files.
std::string data_file_name(const std::string& prefix, int k, int count);

// Makes the folder. Throws failed_precondition or permission_denied, naming the folder and the reason,
// if nothing can be saved there; a full disk is no such reason. Throws disk_error for errors that may
// pass. `what` begins the message: "checkpoints".
void expect_folder_for(std::string_view what, Storage& storage, const std::string& folder);
inline void expect_checkpoint_folder(Storage& storage, const std::string& folder) {
  expect_folder_for("checkpoints", storage, folder);
}

// The newest step in the names of a folder's files, -1 if there is none.
std::int64_t newest_step(Storage& storage, const std::string& folder);
// The newest epoch in the names of a folder's files, 0 if there is none.
std::int64_t newest_epoch_in_names(const std::vector<std::string>& names);
// Removes the files of incomplete saves, of the files in a folder that have these names: those of steps
// without a manifest, but not of a newer epoch. Files that cannot be removed are logged and stay.
void remove_leftovers(Storage& storage, const std::string& folder, const std::vector<std::string>& names,
                      std::int64_t epoch = 0);
// Removes all checkpoints of a folder, but one of that step: their manifests first. Other files stay.
// Throws what Storage throws.
void remove_checkpoints(Storage& storage, const std::string& folder, std::int64_t kept_step = -1);
// Removes these files of a step whose manifest may have been published all the same: files that it names
// stay, and all of them if it cannot be read.
void remove_unpublished(Storage& storage, const std::string& folder, std::int64_t step,
                        std::span<const std::string> files, std::int64_t epoch = 0);

// Merges the manifests of a checkpoint's files, in their order.
Manifest merge_manifests(std::span<const Manifest> parts, std::int64_t global_step);

// Makes a checkpoint valid whose files are complete, and then removes older checkpoints, damaged ones of
// later steps, and the leftovers of crashes and of the step's earlier version, but nothing of a newer
// epoch. Whole checkpoints of later steps stay; those of an earlier epoch take no turn of others. Files
// that cannot be removed are logged and stay. Returns the path of the manifest. Throws what Storage
// throws; the manifest may then exist or not.
std::string commit_checkpoint(Storage& storage, const std::string& folder, const Manifest& manifest,
                              const KeepOptions& keep, std::int64_t epoch = 0);

}  // namespace actorflow
