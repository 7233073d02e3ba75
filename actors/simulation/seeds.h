// Runs a test body over a range of seeds. A failure is shrunk, traced, and replayed with one command.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

  // The seed, its faults and its error, and the command that repeats it: `program` is how the program
  // was called; "": that is not said.
  std::string to_string(const std::string& program = {}) const;
};

// Whether each seed is to run twice, to find what differs: ACTORFLOW_TWICE=1.
bool twice_by_environment();

// Runs `body`, which throws to fail, for one seed after the other until one fails, and then shrinks the
// faults of that seed: those are left out without which it fails in the same way, by the first line of
// its error without numbers. A SimCluster that the body makes without options takes those of the seed.
// If `trace_path` is not empty, writes a trace of the shrunk run there. A body that starts a cluster and
// does not run it to its end fails, and so does, with twice_by_environment(), one whose clusters run
// otherwise the second time. Throws invalid_argument for a range without a seed.
std::optional<SeedFailure> run_seeds(SeedRange range, const std::function<void()>& body,
                                     const std::string& trace_path);

// The error with which `body` fails for the seed, whose faults are neither shrunk nor traced; none if it
// passes. It fails as in run_seeds().
std::optional<std::string> run_seed(std::uint64_t seed, const std::function<void()>& body);

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
  // What is told of a cluster that was started and not run.
  static constexpr const char* why_not_run =
      "a simulated cluster was started, but not run to its end: call finish() or stop() of what start() "
      "returned";

  const SimOptions& options() const { return options_; }
  const std::string& trace_path() const { return trace_path_; }
  void trace_is_written() { has_trace_ = true; }
  bool has_trace() const { return has_trace_; }
  void was_not_run() { not_run_ = true; }
  bool is_not_run() const { return not_run_; }
  // A cluster is gone whose run had this hash.
  void ran(std::uint64_t trace_hash) { hashes_.push_back(trace_hash); }
  // Those of all clusters so far, in order.
  const std::vector<std::uint64_t>& hashes() const { return hashes_; }
  void asked(const Fault& fault) { asked_.push_back(fault); }
  const FaultPlan& asked() const { return asked_; }

 private:
  const SimOptions options_;
  const std::string trace_path_;
  FaultPlan asked_;
  std::vector<std::uint64_t> hashes_;
  bool has_trace_ = false;
  bool not_run_ = false;
  SeedScope* const outer_;
};

}  // namespace actorflow
