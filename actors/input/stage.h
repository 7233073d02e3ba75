// The interface of a dataset's stages: each takes elements from the one before it.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/input/rows.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

class Storage;
class Team;

// The resources of a task that stages may use.
struct InputContext {
  Storage* storage = nullptr;  // null: posix_storage()
  Team* team = nullptr;  // free threads, for parallel work; null: none
};

// A running stage. Throws Error if its input is damaged or a function of the user fails. Not
// thread-safe: it belongs to one actor.
class Stage {
 public:
  virtual ~Stage() = default;
  // Moves to the first element. `pass` counts the repetitions and determines the shuffles. Call it
  // first.
  virtual void restart(std::int64_t pass) = 0;
  // Reads the next element; false at the end, and after it.
  virtual bool next(Tuple& element) = 0;
  // Skips up to `count` elements, as cheaply as it can; returns the number of skipped ones, fewer only
  // at the end.
  virtual std::int64_t skip(std::int64_t count);
  // Stacks up to `count` elements; returns their number, smaller only at the end. Stages that have
  // elements as rows override it, so that a batch is copied once.
  virtual std::int64_t append(std::int64_t count, RowStacker& rows);
  // All elements as rows, if the stage has them so and returns them in this order; otherwise null.
  virtual const Tuple* columns() const { return nullptr; }
};

using StageRef = std::unique_ptr<Stage>;

}  // namespace actorflow
