// One test body run over a range of seeds. What fails is shrunk, traced, and replayed with one command.
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

// The environment has the last word: ACTORFLOW_SEED=n runs that one instead, to replay a failure, and
// ACTORFLOW_SEEDS=n as many from `first` on.
SeedRange seeds(std::uint64_t first, std::uint64_t last);
// ACTORFLOW_FAULTS, the faults of a failure to be replayed. Throws invalid_argument for what is no plan.
std::optional<FaultPlan> faults_of_environment();

struct SeedFailure {
  std::uint64_t seed = 0;
  std::string error;
  FaultPlan faults;  // without any one of these it does not fail
  // What to set in the environment of the same program to see it again.
  std::string environment;

  std::string to_string() const;
};

// Runs `body`, which throws to fail, for one seed after the other until one fails, and then finds out
// which of its faults matter. A SimCluster that the body makes without options takes those of the seed.
// Where `trace_path` is not empty, a trace of the shrunk run goes there.
std::optional<SeedFailure> run_seeds(SeedRange range, const std::function<void()>& body,
                                     const std::string& trace_path);

// `options` with the seed, the faults and the recording of the seed that runs; as they are outside of all.
SimOptions of_this_seed(SimOptions options);

// The seed that runs: its options, and the faults that its body has asked for.
class SeedScope {
 public:
  explicit SeedScope(SimOptions options, std::string trace_path = {});
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;

  static SeedScope* current();

  const SimOptions& options() const { return options_; }
  const std::string& trace_path() const { return trace_path_; }
  void asked(const Fault& fault) { asked_.push_back(fault); }
  const FaultPlan& asked() const { return asked_; }

 private:
  const SimOptions options_;
  const std::string trace_path_;
  FaultPlan asked_;
  SeedScope* const outer_;
};

}  // namespace actorflow
