// What a job and its collections share. For the headers of actors/jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include "actors/jobs/context/job_options.h"
#include "actors/jobs/context/job_parameters.h"
#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/parts/operator_failure.h"
#include "actors/jobs/engine/parts/part.h"
#include "dataflow/jobs/plan.h"
#include "schema/records/record.h"

namespace actorflow {

using OperatorRef = std::shared_ptr<const PlanOperator>;

// The description of an operator that gives records of T.
template <class T>
OperatorRef make_operator(const char* kind, const std::source_location& where) {
  static_assert(require_record<T>());
  return std::make_shared<const PlanOperator>(
      PlanOperator{kind, record_layout<T>(), where.file_name(), static_cast<unsigned>(where.line())});
}

// Where the records of a stage come from. Known when the stages that it reads have run.
struct SourceFacts {
  std::function<void()> prepare;  // makes what it reads
  std::function<std::size_t()> parts;
  std::function<std::uint64_t()> bytes;
  // The records of earlier stages that a part reads; none: the source reads no earlier stage.
  std::function<std::vector<SliceSet>(std::size_t part)> inputs = {};
  // What must be equal on all tasks and in a later run of the job, such as names and sizes of files or a
  // hash of values, as text; none: nothing.
  std::function<std::string()> contents = {};
  // What must be equal in a later run of the job alone, such as when files were written, as text; none:
  // nothing.
  std::function<std::string(Storage&)> times = {};
  // The number of partitions into which the records were last divided; none: they come from files or the
  // program.
  std::function<std::size_t()> partitions = {};
  // The bytes that a part reads; none: unknown.
  std::function<std::uint64_t(std::size_t part)> part_bytes = {};
};

// Used by the job's thread, except for what parts do.
class JobContext {
 public:
  JobContext(JobOptions options, std::unique_ptr<JobEngine> engine);

  const JobOptions& options() const { return options_; }
  JobEngine& engine() { return *engine_; }
  Storage& storage() { return engine_->storage(); }

  JobParameters& parameters() { return parameters_; }
  // Called before a result. Throws as JobParameters::close(), and PlanIsComplete if only parameters are
  // listed.
  void expect_known_parameters();
  // Makes the job only list its parameters: it is given none, reads nothing and has no result. REQUIRES:
  // JobOptions::explain, before its function runs.
  void only_list_parameters() { lists_parameters_ = true; }
  bool lists_parameters() const { return lists_parameters_; }

  // Folders from which the job reads files, and into which it has written all of a result, as it has
  // named them.
  struct Folders {
    std::set<std::string> read, written;
  };
  Folders& folders() { return folders_; }

  // The number of a counter, from 0 on.
  std::size_t counter(const std::string& name);
  std::map<std::string, std::int64_t> counters() const;
  // Counts what a function of the job counts that its thread calls itself, while a CountsHere lives.
  // Throws failed_precondition if none does.
  static void count_here(std::size_t counter, std::int64_t by);

  // What the parts of an action may bring to the program together.
  ResultLimit result_limit(const char* action) const;

  // Adds a stage to the plan; returns its number, from 1 on.
  std::uint32_t add_stage(PlanStage stage);
  const std::vector<PlanStage>& stages() const { return stages_; }
  // The number of partitions for records of `bytes` bytes. It follows from the bytes. Records that come
  // from partitions of an earlier stage (0: from elsewhere) get as many partitions as these, unless they
  // would be small: what is made of few records may be large, and no more threads than partitions make
  // it.
  std::size_t partitions_for(std::uint64_t bytes, std::size_t earlier_partitions) const;

  using Body = std::function<void(Part&)>;
  // Runs a stage of the plan. What its parts have counted is added to the counters. Where plans are only
  // explained throws PlanIsComplete.
  std::vector<PartOutcome> run(std::uint32_t stage, const SourceFacts& source, Body body,
                               std::optional<ResultLimit> limit = {});
  // The same for a stage whose records are divided into `partitions` partitions and kept.
  StageResult keep(std::uint32_t stage, const SourceFacts& source, std::size_t partitions, Body body);
  // The same without dividing the records. Each part runs on its owner only, the task that keeps its
  // records.
  StageResult keep_at(std::vector<int> owners, std::uint32_t stage, const SourceFacts& source,
                      Body body);
  // Runs a stage that is not part of the plan, to take a sample. Counters of its functions are dropped:
  // they count when all records are read.
  std::vector<PartOutcome> sample(const std::string& name, const SourceFacts& source, Body body);

 private:
  StageSpec spec_of(std::uint32_t stage, const SourceFacts& source, Body body) const;
  bool has_peers() const;
  StageResult run_uncounted(std::uint32_t stage, StageSpec spec);
  StageResult run(std::uint32_t stage, StageSpec spec);

  const JobOptions options_;
  const std::unique_ptr<JobEngine> engine_;
  JobParameters parameters_;
  bool lists_parameters_ = false;
  Folders folders_;
  std::vector<std::string> counter_names_;
  std::vector<std::int64_t> counts_;
  std::vector<PlanStage> stages_;
};
using JobRef = std::shared_ptr<JobContext>;

// Lets functions of the job that its thread calls itself, outside of any part, count for the job.
class CountsHere {
 public:
  explicit CountsHere(JobContext& job);
  CountsHere(const CountsHere&) = delete;
  CountsHere& operator=(const CountsHere&) = delete;
  ~CountsHere();
};

// Ends a job whose plan is only explained, at its first result. No std::exception, so that no handler of
// the job's keeps it.
struct PlanIsComplete {};

}  // namespace actorflow
