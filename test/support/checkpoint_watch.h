// Sees whether checkpoints of a training job with Adam are of one step: Adam counts the updates of each
// variable.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "actors/checkpoint/checkpoint.h"
#include "dataflow/values/error.h"

namespace actorflow::test {

// Not thread-safe.
class CheckpointWatch {
 public:
  explicit CheckpointWatch(std::string path) : folder_(std::move(path)) {}

  // Looks at the checkpoints that have come since the last call. Throws internal for one that says that
  // it is of one step, but is not.
  void look(Storage& storage) {
    for (const auto& path : list_checkpoints(storage, folder_)) try {
        const Manifest manifest = read_manifest(storage, path);
        if (!seen_.insert(manifest.files.front().name).second) continue;
        compare(manifest, load_checkpoint(storage, path));
      } catch (const Error& error) {  // removed meanwhile
        if (error.code() == Code::internal || storage.exists(path)) throw;
      }
  }

  std::size_t seen() const { return seen_.size(); }
  // Those that say that their variables may be of different steps, of which training may have gone on.
  int of_several_steps() const { return of_several_steps_; }

 private:
  void compare(const Manifest& manifest, const Checkpoint& checkpoint) {
    if (!manifest.one_step) ++of_several_steps_;
    if (of_several_steps_ > 0) return;
    for (const auto& [name, tensor] : checkpoint.tensors)
      if (name == "global_step" || name.ends_with("/adam/step"))
        if (const auto step = tensor.scalar<std::int64_t>(); step != checkpoint.global_step)
          throw Error(
              Code::internal,
              fmt::format("the checkpoint of step {} says that it is of one step, but '{}' is {}",
                          checkpoint.global_step, name, step));
  }

  std::string folder_;
  std::set<std::string> seen_;  // first files
  int of_several_steps_ = 0;
};

}  // namespace actorflow::test
