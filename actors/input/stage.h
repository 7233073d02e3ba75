// The seam between a dataset's stages: each takes elements from the one before it.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/input/rows.h"
#include "dataflow/graph/tensor_types.h"

namespace actorflow {

class Storage;
class Team;

// What the stages of a task may use.
struct InputContext {
  Storage* storage = nullptr;
  Team* team = nullptr;  // free threads, for parallel work; null: none
};

// A stage at work. It throws Error where its input is damaged or a function of the user fails. Not
// thread-safe: it belongs to one actor.
class Stage {
 public:
  virtual ~Stage() = default;
  // To the first element. `pass` counts the repetitions and decides the shuffles. The first call of all.
  virtual void restart(std::int64_t pass) = 0;
  // False at the end, and after it.
  virtual bool next(Tuple& element) = 0;
  // Passes over up to `count` elements, as cheaply as it can; returns how many, fewer only at the end.
  virtual std::int64_t skip(std::int64_t count);
  // Stacks up to `count` elements; returns how many, fewer only at the end. For stages that have elements
  // as rows, so that a batch is copied once.
  virtual std::int64_t append(std::int64_t count, RowStacker& rows);
  // All elements as rows, for a stage that has them so and gives them in this order; null for others.
  virtual const Tuple* columns() const { return nullptr; }
};

using StageRef = std::unique_ptr<Stage>;

}  // namespace actorflow
