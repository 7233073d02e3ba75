// Fault plans: the faults of a simulation and their times, as values that can be written down, replayed
// and shrunk.
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
  kill,         // the task's process dies at once
  restart,      // the program of a dead task is restarted
  pause,        // SIGSTOP; after `duration` SIGCONT
  partition,    // `task` and `other` do not reach each other for `duration`
  delay,        // messages to and from `task` are 200 ms later for `duration`
  slow,         // `task` computes 20 times as long for `duration`
  lossy,        // every hundredth message anywhere is lost and sent again, for `duration`
  duplicate,    // every tenth message anywhere arrives twice, for `duration`
  late,         // large messages anywhere arrive late and are overtaken, for `duration`
  disk_full,    // nothing can be written for `duration`
  disk_errors,  // a fraction of all disk calls fails, with various errors, for `duration`
  power,        // all tasks die and a part of all unsynced data is lost; they restart after `duration`
};

// The sizes of faults.
struct FaultSizes {
  static constexpr std::chrono::milliseconds delay{200};
  static constexpr int slow_factor = 20;
  static constexpr double loss = 0.01, duplication = 0.1, late = 0.5;  // fractions of messages
  static constexpr double disk_errors = 0.05;                          // of disk calls
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

// Faults in the order of their times.
using FaultPlan = std::vector<Fault>;

// The faults, separated by "; ".
std::string to_string(const FaultPlan& plan);
// The inverse. Throws invalid_argument that names the fault that is not understood, and the expected
// form.
FaultPlan parse_fault_plan(std::string_view text);

// The parameters of a random plan.
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

// A minimal failing plan: `fails` is false without any one of its faults (ddmin; Zeller and Hildebrandt
// 2002). A restart is removed only together with the kill before it. REQUIRES: fails(plan) (not checked:
// that would cost one more run).
FaultPlan shrink(FaultPlan plan, const std::function<bool(const FaultPlan&)>& fails);

}  // namespace actorflow
