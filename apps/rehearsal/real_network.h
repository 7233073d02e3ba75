// The network of a real job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/simulation/fault_plan.h"
#include "apps/rehearsal/lan.h"
#include "apps/rehearsal/real_task.h"

namespace actorflow {

// All tasks on loopback, without faults of the network, or each task on a machine of its own. Not
// thread-safe.
class RealNetwork {
 public:
  // Throws Error (failed_precondition) if machines are not possible, or no port is free.
  RealNetwork(std::vector<TaskName> tasks, bool machines);

  static bool is_of_network(FaultKind kind);

  const std::vector<TaskName>& tasks() const { return tasks_; }
  // The address of a task, by its position among all.
  std::string address(std::size_t task) const;
  RealTask::Port port(std::size_t task) const;
  // The command line that runs a command where the task is.
  std::vector<std::string> on(std::size_t task, std::vector<std::string> command) const;
  // The flags that tasks need here.
  std::vector<std::string> flags() const;

  // Applies the network faults among these, and ends all others.
  void apply(const FaultPlan& lasting);
  // The counts of packets; zero on loopback.
  PacketCounts packets() const { return lan_ ? lan_->counts() : PacketCounts{}; }

 private:
  int machine(const TaskName& task) const;

  const std::vector<TaskName> tasks_;
  std::uint32_t loopback_ = 0;  // the address of all tasks
  std::unique_ptr<Lan> lan_;
};

}  // namespace actorflow
