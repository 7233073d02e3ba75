// Scenarios: a training job, a map/reduce job or ranks that sum, its faults, and the result that must
// come out all the same; in a file, as the options of `actorflow simulate`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/simulation/sim_cluster.h"
#include "apps/cli/train_flags.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

// The options of a scenario file. Times are in nanoseconds.
struct ScenarioFlags {
  int ps = 2;
  int workers = 4;
  TrainFlags train{.save_checkpoint_steps = 20};

  std::string job;  // map/reduce, in place of training; "": training
  int tasks = 3;
  std::string input;
  std::int64_t split_bytes = 65'536;
  std::int64_t partitions = 4;
  bool resume = false;  // with a work folder, from which each life of the job goes on

  int ranks = 0;  // that sum by all-reduce, at most, in place of training; 0: training
  int rounds = 12;
  std::string algorithm;  // of the all-reduce; "": one that the seed draws

  std::vector<std::string> faults;  // "12.5s pause /job:ps/task:0 for 3s"
  int random_faults = 0;            // this many more, drawn from the seed
  std::vector<std::string> kinds;   // of the random faults; none: all kinds that heal
  std::int64_t faults_until = 5'000'000'000;
  std::int64_t longest_fault = 10'000'000'000;

  std::int64_t latency = 100'000;
  double bytes_per_second = 1.25e9;
  std::int64_t kernel_time = 2'000'000;  // at most; real processes take their own time
  std::int64_t time_limit = 600'000'000'000;
  std::int64_t real_train_steps = 0;  // of real processes, in place of train_steps; 0 = the same

  bool same_weights = false;    // the weights must be those without faults, bit by bit
  double accuracy_within = -1;  // percentage points below the undisturbed run's, at most

  void add_to(Command& command);
};

// The time after which a program that has ended with an error is restarted, as by `actorflow supervise`.
constexpr std::chrono::seconds restart_pause{1};

// A scenario with checked options. Immutable.
class Scenario {
 public:
  // Throws UsageError for options that make no sense, and what reading the data throws.
  Scenario(std::string name, const ScenarioFlags& flags);
  // Reads a file of lines "option = value". `settings`, each "option=value", override the file. Throws
  // UsageError that names the file and the mistake.
  static Scenario read(const std::string& path, const std::vector<std::string>& settings = {});
  // The map/reduce job on one task, without faults.
  Scenario on_one_task() const;
  // The scenario with the number of steps for real processes.
  Scenario on_real_processes() const;

  const std::string& name() const { return name_; }
  const ScenarioFlags& flags() const { return flags_; }
  // The rest of what a scenario has is that of training, or of a map/reduce job.
  bool is_training() const { return flags_.job.empty() && !has_ranks(); }
  bool has_ranks() const { return flags_.ranks > 0; }
  // The files that a map/reduce job reads, by name.
  const std::map<std::string, std::vector<std::byte>>& input() const { return input_; }
  const LabelledData& data() const { return data_; }
  // The training options, without a folder for checkpoints, which the runner of the scenario chooses.
  const TrainOptions& train() const { return train_; }
  std::vector<SimCluster::Job> jobs() const;
  std::vector<TaskName> tasks() const;
  // All faults of a seed, in the order of their times.
  FaultPlan faults(std::uint64_t seed) const;
  // Compares the report with that of the job without faults. Throws Error (internal) that names what is
  // not as the scenario demands.
  void check(const TrainReport& report, const TrainReport& undisturbed) const;

 private:
  std::string name_;
  ScenarioFlags flags_;
  TrainOptions train_;
  LabelledData data_;
  std::map<std::string, std::vector<std::byte>> input_;
  FaultPlan fixed_;
  RandomFaults random_;
};

// The project's own scenarios, by path.
std::vector<std::string> own_scenarios();

}  // namespace actorflow
