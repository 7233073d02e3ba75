// Where the tasks of a real job are, and what is between them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/simulation/fault_plan.h"
#include "apps/rehearsal/lan.h"
#include "apps/rehearsal/real_task.h"

namespace actorflow {

// On loopback, where nothing can happen to what is sent, or each task on a machine of its own. Not
// thread-safe.
class RealNetwork {
 public:
  // Throws Error (unavailable) where there can be no machines, or no port is free.
  RealNetwork(std::vector<TaskName> tasks, bool machines);

  static bool is_of_network(FaultKind kind);

  const std::vector<TaskName>& tasks() const { return tasks_; }
  // Of a task by its place among all.
  std::string address(std::size_t task) const;
  RealTask::Port port(std::size_t task) const;
  // What starts this command where the task is.
  std::vector<std::string> on(std::size_t task, std::vector<std::string> command) const;
  // The flags that tasks need here.
  std::vector<std::string> flags() const;

  // Those of the network among these faults last now, and no others.
  void apply(const FaultPlan& lasting);
  // None on loopback.
  PacketCounts packets() const { return lan_ ? lan_->counts() : PacketCounts{}; }

 private:
  int machine(const TaskName& task) const;

  const std::vector<TaskName> tasks_;
  std::uint32_t loopback_ = 0;  // the address that all share
  std::unique_ptr<Lan> lan_;
};

}  // namespace actorflow
