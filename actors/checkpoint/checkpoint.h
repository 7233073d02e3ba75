// Checkpoints: the values of variables, and what optimizers keep beside them, at one step. A checkpoint
// is one safetensors file per task and a manifest, which is written last and makes it valid:
//
//   step-<n>.<k>-of-<m>.safetensors    of the k-th task
//   step-<n>.manifest                  schema/checkpoint.capnp
//   epoch                              of the chief who saves here (checkpoint/folder_epoch.h)
//   starts/<job>-<n>                   a line for each start of the task (checkpoint/start_number.h)
//
// Files that a chief's session saves are named after its epoch, too: step-<n>.epoch-<e>.manifest and
// step-<n>.epoch-<e>.<k>-of-<m>.safetensors. So no chief overwrites the files of another, not even a
// chief that was stopped just before it published a manifest and goes on later. Of several manifests of
// one step the one without an epoch counts, else the one of the newest epoch. A step is listed last if a
// newer epoch has saved an earlier step: its chief was too late. Saving a step once more writes
// step-<n>.again.<k>-of-<m>.safetensors, and the next time the first names again: the earlier files stay
// whole until the new manifest stands. A tensor has the name of its variable, a slot the name
// "<variable>/<optimizer>/<slot>", what a program saves besides "@<name>".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/values/tensor.h"
#include "schema/codec/checkpoint_codec.h"

namespace actorflow {

// The paths of all manifests in a folder, the newest step first; for one step, first the manifest that
// counts. Steps that are later than one from which a chief of a newer epoch went on come at the end.
std::vector<std::string> list_checkpoints(Storage& storage, const std::string& folder);
// The first path of list_checkpoints(); none if there is no checkpoint.
std::optional<std::string> latest_checkpoint(Storage& storage, const std::string& folder);
// Throws data_loss or failed_precondition, naming the path, if it is no readable manifest.
Manifest read_manifest(Storage& storage, const std::string& path);
// The damage of a checkpoint, checked down to each bit of each file; empty if it is whole.
std::vector<std::string> verify_checkpoint(Storage& storage, const std::string& manifest_path);

// What a program saves beside its variables, such as the state of callbacks: tensors with names of their
// own. Variables are restored without it, and from a checkpoint that has none or another one's.
using ExtraState = std::map<std::string, Tensor>;

struct Checkpoint {
  std::int64_t global_step = 0;
  std::map<std::string, Tensor> tensors;
  std::int64_t saved_at_s = 0;  // since 1970
};

// Loads a whole checkpoint into this process, without extra state, and joins sliced tensors. Throws
// data_loss, naming the file and what to do, if a file does not match the manifest.
Checkpoint load_checkpoint(Storage& storage, const std::string& manifest_path);
// Loads the newest checkpoint in the folder, if there is one.
std::optional<Checkpoint> load_latest_checkpoint(Storage& storage, const std::string& folder);
// The same of the newest one that is whole, in a folder in which others may save meanwhile. Those that
// are damaged are logged; if none is whole, throws the error of the newest. A disk that answers with an
// error is asked again for 15 s before an older checkpoint is taken.
std::optional<Checkpoint> load_newest_whole_checkpoint(Storage& storage, const std::string& folder);

// The checkpoints that are kept when a new one is complete.
struct KeepOptions {
  int max_to_keep = 5;  // the number of newest ones; 0 = all
  // Of the older ones the first is kept, and then each that was saved that much later; 0 = none.
  double keep_checkpoint_every_n_hours = 0;
};

// Writes a checkpoint of one file, for the chief of this epoch, or for none. Throws what Storage throws,
// and aborted if a newer chief saves here; the earlier checkpoints stay whole. Returns the path of the
// manifest. Clusters save with a Saver.
std::string save_checkpoint(Storage& storage, const std::string& folder, const Checkpoint& checkpoint,
                            const KeepOptions& keep = {}, std::int64_t epoch = 0);

// A hash of names, types and bytes: equal for bit-equal weights.
std::uint64_t hash_of(const std::map<std::string, Tensor>& tensors);

}  // namespace actorflow
