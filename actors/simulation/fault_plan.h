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
  kill,              // the task's process dies at once
  restart,           // the program of a dead task is restarted
  pause,             // SIGSTOP; after `duration` SIGCONT
  partition,         // `task` and `other` do not reach each other for `duration`
  partition_oneway,  // nothing of `task` reaches `other` for `duration`; the other way is open
  // Of messages anywhere, to and from `task`, or between `task` and `other`, for `duration`:
  delay,      // they are later by `by`, or 200 ms
  lossy,      // every hundredth is lost and sent again
  duplicate,  // every tenth arrives twice
  late,       // large ones arrive late and are overtaken
  slow,       // `task` computes 20 times as long for `duration`
  clock,      // the wall clock of `task` is ahead by `by`, or 1 h, for `duration`
  // Of the calls of every task, or of `task`, to the disk that all share, for `duration`:
  disk_full,    // nothing can be written
  disk_errors,  // a fraction of all calls fails, with various errors
  disk_slow,    // each takes 100 times as long
  disk_torn,    // a fraction of the writes stores a part of its bytes, and fails
  // All tasks die, or `task`, and a part of the data that they have not synced is lost; they restart
  // after `duration`. Of one task, its bytes are lost; the names of files are safe on their server.
  power,
};

// The sizes of faults.
struct FaultSizes {
  static constexpr std::chrono::milliseconds delay{200};
  static constexpr std::chrono::hours clock{1};
  static constexpr int slow_factor = 20, disk_slow_factor = 100;
  static constexpr double loss = 0.01, duplication = 0.1, late = 0.5;  // fractions of messages
  static constexpr double disk_errors = 0.05;                          // of disk calls
  static constexpr double torn = 0.3;                                  // of writes
};

std::string_view to_string(FaultKind kind);
// The inverse. Throws invalid_argument that lists the kinds.
FaultKind parse_fault_kind(std::string_view name);

struct Fault {
  std::chrono::nanoseconds at{0};  // since the world began
  FaultKind kind = FaultKind::kill;
  TaskName task{};   // none: everywhere, of kinds that can be so
  TaskName other{};  // of partitions, and of what can happen to one link
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds by{0};  // of delay and clock, which may be behind; 0: as in FaultSizes

  // "12.5s pause /job:ps/task:0 for 3s", "5s delay /job:ps/task:0 /job:worker/task:1 by 1s for 3s"
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

// Throws invalid_argument that names a fault that cannot happen to a cluster of these tasks, and why: a
// time that is negative, a task that is not there, one that it needs or does not take, a partition of a
// task with itself.
void check_faults(const FaultPlan& plan, const std::vector<TaskName>& tasks);

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
// Throws invalid_argument without a task or a kind, and for times that are negative or in no order.
FaultPlan random_fault_plan(std::uint64_t seed, const std::vector<TaskName>& tasks,
                            const RandomFaults& options);

// A minimal failing plan: `fails` is false without any one of its faults (ddmin; Zeller and Hildebrandt
// 2002). A restart is removed only together with the kill before it. REQUIRES: fails(plan) (not checked:
// that would cost one more run).
FaultPlan shrink(FaultPlan plan, const std::function<bool(const FaultPlan&)>& fails);

}  // namespace actorflow
