// What goes wrong in a simulation, and when: a value that can be written down, replayed and shrunk.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/cluster/device_name.h"

namespace actorflow {

enum class FaultKind : std::uint8_t {
  kill,       // the task's process dies at once
  restart,    // the program of a task that has died begins anew
  pause,      // SIGSTOP; after `duration` SIGCONT
  partition,  // `task` and `other` do not reach each other for `duration`
  delay,      // what `task` sends and receives is 200 ms later for `duration`
  slow,       // `task` computes 20 times as long for `duration`
  lossy,      // every hundredth message anywhere is lost and sent again, for `duration`
  duplicate,  // every tenth message anywhere comes twice, for `duration`
  late,       // large messages anywhere come late and are overtaken, for `duration`
  disk_full,  // nothing can be written for `duration`
  disk_errors,  // a share of all calls of the disk fails, each with an error of its own, for `duration`
  power,      // all tasks die and of what was not synced a part is lost; they restart after `duration`
};

// What they do, in numbers.
struct FaultSizes {
  static constexpr std::chrono::milliseconds delay{200};
  static constexpr int slow_factor = 20;
  static constexpr double loss = 0.01, duplication = 0.1, late = 0.5;  // shares of what is sent
  static constexpr double disk_errors = 0.05;                          // of the disk's calls
};

std::string_view to_string(FaultKind kind);
// The inverse. Throws invalid_argument that lists the kinds.
FaultKind parse_fault_kind(std::string_view name);

struct Fault {
  std::chrono::nanoseconds at{0};  // since the world began
  FaultKind kind = FaultKind::kill;
  TaskName task{};   // of kill, restart, pause, partition, delay, slow
  TaskName other{};  // of partition
  std::chrono::nanoseconds duration{0};

  // "12.5s pause /job:ps/task:0 for 3s"
  std::string to_string() const;
  bool operator==(const Fault&) const = default;
};

// In the order of their times.
using FaultPlan = std::vector<Fault>;

// One fault after the other, with "; " between them.
std::string to_string(const FaultPlan& plan);
// The inverse. Throws invalid_argument that names the fault that is not understood, and what was expected.
FaultPlan parse_fault_plan(std::string_view text);

// What a random plan is made of.
struct RandomFaults {
  int count = 3;
  std::chrono::nanoseconds from{0}, until{0};  // when faults begin
  std::chrono::nanoseconds longest{std::chrono::seconds(10)};
  // A task that is killed restarts after at most `longest`: everything heals.
  std::vector<FaultKind> kinds{FaultKind::kill,  FaultKind::pause,     FaultKind::partition,
                               FaultKind::delay, FaultKind::slow,      FaultKind::lossy,
                               FaultKind::late,  FaultKind::duplicate, FaultKind::disk_full};
};
FaultPlan random_fault_plan(std::uint64_t seed, const std::vector<TaskName>& tasks,
                            const RandomFaults& options);

// A smallest plan, in the sense that without any one of its faults `fails` is false (ddmin; Zeller and
// Hildebrandt 2002). A restart goes only after the kill before it. REQUIRES: fails(plan) (not checked:
// that would be one more run).
FaultPlan shrink(FaultPlan plan, const std::function<bool(const FaultPlan&)>& fails);

}  // namespace actorflow
