// A scenario's job as real processes in real time, with real faults.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/rehearsal/memory_disk.h"
#include "apps/rehearsal/real_network.h"
#include "apps/rehearsal/real_task.h"
#include "apps/rehearsal/temporary_folder.h"
#include "apps/scenario/scenario.h"

namespace actorflow {

// A trainer process per task. The times of faults count from the moment when all tasks listen. Its
// processes end and its files are removed with this object. Not thread-safe.
class RealJob {
 public:
  // The program of the tasks: `trainer`, beside this one.
  static std::string trainer();

  // `scenario` must outlive this. Throws Error (failed_precondition) if this machine cannot produce the
  // faults.
  RealJob(const Scenario& scenario, FaultPlan faults);
  ~RealJob();

  // Does what is due; call it every few milliseconds. False when all tasks have ended. Throws Error that
  // names the failure: a task ended that should not, or the job hangs.
  bool advance();
  // The chief's report. Throws Error (internal) if there is none.
  TrainReport report() const;

  const std::map<FaultKind, std::uint64_t>& happened() const { return happened_; }
  PacketCounts packets() const { return network_.packets(); }
  // Faults that were not yet due when all tasks had ended.
  std::uint64_t too_late() const { return plan_.size() - next_fault_; }
  // Ends all processes but keeps the files: the output of each task, the times of the faults, the
  // checkpoints. Returns their folder.
  const std::string& keep_files();

 private:
  using RealTime = RealTask::RealTime;
  struct Lasting {
    Fault fault;
    RealTime::time_point begin, end;
    std::vector<RealTask*> lost{};  // of power
  };

  std::vector<std::string> command_of(std::size_t task) const;
  RealTask& task(const TaskName& name);
  void begin_due(RealTime::time_point now);
  void end_due(RealTime::time_point now);
  void begin(const Fault& fault, RealTime::time_point now);
  void lose_power(Lasting& fault);
  void set_network();
  bool is_disk_full() const;
  bool is_held(const RealTask& task, RealTime::time_point now) const;
  bool restarts(const RealTask& task) const;
  bool is_over() const;
  void check_end() const;
  std::string describe_tasks() const;
  void note(const std::string& event) const;

  const Scenario& scenario_;
  const FaultPlan plan_;
  std::size_t next_fault_ = 0;
  std::map<FaultKind, std::uint64_t> happened_;
  std::deque<Lasting> lasting_;
  const RealTime::time_point started_ = RealTime::now();
  std::optional<RealTime::time_point> all_up_;

  TemporaryFolder folder_;
  std::unique_ptr<MemoryDisk> disk_;
  RealNetwork network_;
  std::deque<RealTask> tasks_;  // a deque, so that their addresses stay
};

}  // namespace actorflow
