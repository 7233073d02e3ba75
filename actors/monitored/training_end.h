// The mark that training is complete, for tasks that start, or restart, when the others have left. It is
// the file `training-complete` in the folder of checkpoints, a line of text:
//
//   mark   <steps> " steps, last checkpoint " <name> ", checksum " <check> "\n"
//   steps  those of the training that has ended, counted from its first one
//   name   of the manifest in the folder; "none" if there was none
//   check  16 hex digits: checksum() of what stands before ", checksum"
//
// An earlier version wrote <steps> "\n", which is read, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

struct TrainingEnd {
  std::int64_t steps = 0;    // more than were made where the program or its input has ended it early
  std::string checkpoint{};  // the name of the last manifest; "" if none is known
};

// Marks the end of a training of so many steps, durably, with the newest checkpoint as its last one. The
// chief calls it when it needs no other task any more. Throws what Storage throws.
void mark_complete(Storage& storage, const std::string& folder, std::int64_t steps);

// The mark in the folder; nothing if there is none. Throws data_loss, naming the file, if it is damaged,
// and what Storage throws.
std::optional<TrainingEnd> read_training_end(Storage& storage, const std::string& folder);

// The global step of the newest checkpoint in the folder; nothing if there is none.
std::optional<std::int64_t> latest_step(Storage& storage, const std::string& folder);

// Answers a task that waits for others whether they have left because training is complete. Not
// thread-safe.
class EndMark {
 public:
  // "" = no folder. REQUIRES: the storage outlives this.
  EndMark(Storage& storage, std::string folder);

  // Why a training of `steps` steps is complete, naming the mark; "" while it is not: where the mark is
  // of fewer steps, and without a folder or steps. So is a mark that is damaged, cannot be read, or
  // names a checkpoint that is not there (then it is of another training), which is logged once.
  std::string why_complete(std::int64_t steps);

 private:
  void say_once(const std::string& why);

  Storage& storage_;
  const std::string folder_;
  std::string said_;
};

// Whether EndMark::why_complete() has an answer now.
bool is_complete(Storage& storage, const std::string& folder, std::int64_t steps);

}  // namespace actorflow
