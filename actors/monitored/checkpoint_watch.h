// Waiting for the checkpoints that a trainer saves, in a task that tests or exports each of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/runtime/runtime.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// What a CheckpointWatch does with a checkpoint.
struct CheckpointHandler {
  // Loads the newest checkpoint that is whole, and returns its step; nothing if there is none. What it
  // throws as data_loss, as not_found (it has been removed meanwhile) or of the disk (storage_error.h)
  // counts as a checkpoint that cannot be read.
  std::function<std::optional<std::int64_t>()> load;
  // Called once for each loaded step that is newer than the last one. What it throws ends the watch.
  std::function<void(std::int64_t step)> handle;
};

// The end of a watch, which comes once the newest checkpoint has been handled: the mark that training is
// complete (training_end.h) at `step` or later; or, unless only the mark counts, a checkpoint of `step`
// or later.
struct WatchEnd {
  std::int64_t step = 0;
  bool only_mark = false;
};

// The checkpoints of one folder, which need not exist yet. Checkpoints that were followed by another one
// before they could be loaded are passed over. Not thread-safe. REQUIRES: the storage outlives this.
class CheckpointWatch {
 public:
  // `last_step` is the last step that was handled, perhaps by an earlier process; -1: none.
  CheckpointWatch(Storage& storage, std::string folder, CheckpointHandler handler,
                  std::int64_t last_step = -1);

  // Hands on the newest checkpoint if it is a new one, and returns whether it was. One that cannot be
  // read may be replaced or removed at that moment, so it is tried again in the next calls; throws
  // data_loss, naming the step and what is wrong, when the same has failed 20 times in a row. An error
  // of the disk that hides the folder is thrown when it has come so often, too.
  bool look();
  // Looks again and again until the end, or until `stopped` is true; returns whether it was the end.
  // What it waits for is logged after 2 s, and then every 5 s. Throws what look() throws.
  bool run(Runtime& runtime, const WatchEnd& end, const std::function<bool()>& stopped);

  std::int64_t last_step() const { return last_step_; }

 private:
  void find_newest();
  bool is_over(const WatchEnd& end, bool marked) const;

  Storage& storage_;
  std::string folder_;
  CheckpointHandler handler_;
  std::int64_t last_step_;
  std::int64_t newest_ = -1;      // the step of the newest one; -1: none, or the folder cannot be read
  int folder_failures_ = 0;       // to read the folder
  std::int64_t unreadable_ = -1;  // the step of the newest one, while it cannot be read
  int failures_ = 0;              // to read it
};

}  // namespace actorflow
