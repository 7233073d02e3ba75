// The actor that writes and reads a task's part of a checkpoint, about a block per message and one job
// after the other, so that the shard, and with it training, goes on meanwhile.
#pragma once

#include <caf/stateful_actor.hpp>
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "actors/checkpoint/files/file_writer.h"
#include "actors/checkpoint/files/reader.h"
#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"
#include "dataflow/ops/checkpoint_ops.h"
#include "kernels/update/optimizer_update.h"

namespace actorflow {

// shard -> I/O actor: write these tensors; the node's output is the encoded manifest of the file. The
// handles are a snapshot: an update makes a new value as long as there is a handle on the old one.
struct SaveTensors {
  ReplyTo reply_to;
  std::string folder, file;
  std::int64_t global_step = 0;
  std::vector<SavedTensor> tensors;
};
// shard -> I/O actor: read these variables from the checkpoint; answered by TensorsLoaded.
struct LoadTensors {
  ReplyTo reply_to;
  std::string folder;
  std::string manifest;  // encoded
  std::vector<VariableInCheckpoint> variables;
  FencingEpoch epoch = 0;  // of the step that restores
};
struct LoadedVariable {
  std::string variable;
  std::string optimizer;  // empty if the checkpoint has no slots
  VariableState state;
};
// I/O actor -> shard: the tensors that were read.
struct TensorsLoaded {
  ReplyTo reply_to;
  std::vector<LoadedVariable> variables;
  FencingEpoch epoch = 0;
};
inline void refuse(const TensorsLoaded& loaded, Status why) { fail(loaded.reply_to, std::move(why)); }

class CheckpointIo {
 public:
  CheckpointIo(GuardedActor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();
  void refuse(const SaveTensors& job, const Status& why) { refuse(job.reply_to, why); }
  void refuse(const LoadTensors& job, const Status& why) { refuse(job.reply_to, why); }

  // A tensor to read for a variable, given by position: its value, or the slot of this name,
  // "<optimizer>/<slot>".
  struct Wanted {
    std::size_t variable = 0;
    std::string slot;
    TensorRange range;
  };

 private:
  using Job = std::variant<SaveTensors, LoadTensors>;

  void refuse(const ReplyTo& asker, const Status& why);
  void take(Job job);
  void advance();
  // Each does a part of the first job and returns whether it is done.
  bool advance(SaveTensors& job);
  bool advance(LoadTensors& job);
  std::vector<LoadedVariable> take_loaded(const LoadTensors& job);
  Status explain(const Error& error, const Job& job) const;

  GuardedActor* self_;
  TaskRef task_;
  std::deque<Job> jobs_;
  // The writer or reader of the first job, once it has begun.
  std::unique_ptr<CheckpointFileWriter> writer_;
  std::unique_ptr<CheckpointReader> reader_;
  std::vector<Wanted> wanted_;
};

using CheckpointIoActor = caf::stateful_actor<std::unique_ptr<CheckpointIo>, PieceActor>;
caf::behavior checkpoint_io_actor(CheckpointIoActor* self, TaskRef task);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::SaveTensors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::LoadTensors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::TensorsLoaded)
