// Checks that the snapshots of several tasks' variables are of one step.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace actorflow {

// Compares which updates the variables of all tasks have had, as SnapshotVariables says it
// (dataflow/ops/checkpoint_ops.h). A value; not thread-safe.
class SeenUpdates {
 public:
  // Adds the outputs of one task's SnapshotVariables: kinds of updates, and three numbers for each.
  void add(std::span<const std::string> updates, std::span<const std::int64_t> numbers);

  // Which variables have not had the updates that the global step has counted, or have had others, and
  // how: a text for people, "" if there are none. REQUIRES: add() for the task of the global step and
  // for each task with variables.
  std::string differences() const;

 private:
  struct Range {
    std::int64_t lowest = -1, highest = -1;  // of a variable; -1: none has had any
    std::int64_t counted = -1;
  };
  std::map<std::string, Range> ranges_;  // by kind of update
};

}  // namespace actorflow
