// Runs a test body over a range of seeds. A failure is shrunk, traced, and replayed with one command.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/simulation/sim_cluster.h"

namespace actorflow {

struct SeedRange {
  std::uint64_t first = 1, last = 1;  // both included
};

// The range of seeds, unless the environment overrides it: ACTORFLOW_SEED=n runs only that one, to
// replay a failure, and ACTORFLOW_SEEDS=n runs n seeds from `first` on.
SeedRange seeds(std::uint64_t first, std::uint64_t last);
// The faults in ACTORFLOW_FAULTS, to replay a failure. Throws invalid_argument for a text that is no
// plan.
std::optional<FaultPlan> faults_of_environment();

struct SeedFailure {
  std::uint64_t seed = 0;
  std::string error;
  FaultPlan faults;  // the test passes without any one of these
  // The environment variables with which the same program repeats the failure.
  std::string environment;
  std::string trace;  // a sentence: where the run's trace is, or could not be written; "" without one

  std::string to_string() const;
};

// Runs `body`, which throws to fail, for one seed after the other until one fails, and then shrinks the
// faults of that seed. A SimCluster that the body makes without options takes those of the seed. If
// `trace_path` is not empty, writes a trace of the shrunk run there. Throws invalid_argument for a range
// without a seed.
std::optional<SeedFailure> run_seeds(SeedRange range, const std::function<void()>& body,
                                     const std::string& trace_path);

// `options` with the seed, faults and recording of the running seed; unchanged outside of run_seeds().
SimOptions of_this_seed(SimOptions options);

// The running seed: its options, and the faults that its body has added.
class SeedScope {
 public:
  explicit SeedScope(SimOptions options, std::string trace_path = {});
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;

  static SeedScope* current();

  const SimOptions& options() const { return options_; }
  const std::string& trace_path() const { return trace_path_; }
  void trace_is_written() { has_trace_ = true; }
  bool has_trace() const { return has_trace_; }
  void asked(const Fault& fault) { asked_.push_back(fault); }
  const FaultPlan& asked() const { return asked_; }

 private:
  const SimOptions options_;
  const std::string trace_path_;
  FaultPlan asked_;
  bool has_trace_ = false;
  SeedScope* const outer_;
};

}  // namespace actorflow
