// What the log says while members train. For this folder only.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "actors/ensembles/member_record.h"
#include "actors/models/fit/callback.h"

namespace actorflow {

// The trainings of a task. Thread-safe: a line is written at once, since members train beside each
// other.
class MemberLog {
 public:
  // `task`: for readers, such as " on task 2"; "" where there is only one.
  explicit MemberLog(std::string task) : task_(std::move(task)) {}

  // For one training: says when it begins, how far it is every few seconds, and when it has ended.
  // REQUIRES: the log outlives it.
  CallbackRef callback_for(const std::string& what);
  const std::string& task() const { return task_; }
  // Counts the trainings that have begun, from 1.
  int count_begun() { return ++begun_; }

 private:
  const std::string task_;
  std::atomic<int> begun_{0};
};

// "member 3", "member 3 without fold 1".
std::string describe(const MemberWork& work);

}  // namespace actorflow
