// What a job and its collections share. For the headers of this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/operator_failure.h"
#include "actors/jobs/engine/part.h"
#include "actors/jobs/job_options.h"
#include "actors/jobs/job_parameters.h"
#include "dataflow/jobs/plan.h"
#include "schema/records/record.h"

namespace actorflow {

using OperatorRef = std::shared_ptr<const PlanOperator>;

// An operator that gives records of T.
template <class T>
OperatorRef make_operator(const char* kind, const std::source_location& where) {
  static_assert(require_record<T>());
  return std::make_shared<const PlanOperator>(
      PlanOperator{kind, record_layout<T>(), where.file_name(), static_cast<unsigned>(where.line())});
}

// Where a stage's records come from: known when what it reads has been made.
struct SourceFacts {
  std::function<void()> prepare;  // makes what it reads
  std::function<std::size_t()> parts;
  std::function<std::uint64_t()> bytes;
  // Records of earlier stages that a part reads; none: it reads none.
  std::function<std::vector<SliceSet>(std::size_t part)> inputs = {};
  // What all tasks must see alike, such as names and sizes of files; none: nothing.
  std::function<std::string()> contents = {};
  // What a later run of the job must see alike, too, such as when files were written; none: nothing.
  std::function<std::string(Storage&)> times = {};
  // Into how many partitions its records were divided last; none: they come from files or the program.
  std::function<std::size_t()> partitions = {};
};

// For one thread, but for what parts do.
class JobContext {
 public:
  JobContext(JobOptions options, std::unique_ptr<JobEngine> engine);

  const JobOptions& options() const { return options_; }
  JobEngine& engine() { return *engine_; }
  Storage& storage() { return engine_->storage(); }

  JobParameters& parameters() { return parameters_; }
  // Before a result. Throws as JobParameters::close(), and PlanIsComplete where only parameters are
  // listed.
  void expect_known_parameters();
  // The job was given nothing, reads nothing and has no result: who runs it wants to know what it asks
  // for. REQUIRES: JobOptions::explain, before its function runs.
  void only_list_parameters() { lists_parameters_ = true; }
  bool lists_parameters() const { return lists_parameters_; }

  // The number of a counter, from 0 on.
  std::size_t counter(const std::string& name);
  std::map<std::string, std::int64_t> counters() const;

  // Adds a stage to the plan; returns its number, from 1 on.
  std::uint32_t add_stage(PlanStage stage);
  const std::vector<PlanStage>& stages() const { return stages_; }
  // How many partitions records of so many bytes are divided into: by the bytes, and where they come
  // from so many partitions of an earlier stage (0: from elsewhere) into as many, unless those would be
  // small. What is made of them may be far more than they are, and is made by so many threads at most.
  std::size_t partitions_for(std::uint64_t bytes, std::size_t earlier_partitions) const;

  using Body = std::function<void(Part&)>;
  // Runs a stage of the plan. What its parts have counted is added to the counters. Where plans are only
  // explained throws PlanIsComplete.
  std::vector<PartOutcome> run(std::uint32_t stage, const SourceFacts& source, Body body,
                               std::optional<ResultLimit> limit = {});
  // The same for a stage whose records, divided into so many partitions, are kept.
  StageResult keep(std::uint32_t stage, const SourceFacts& source, std::size_t partitions, Body body);
  // The same undivided, where each part runs at its owner alone, a task that has what it keeps.
  StageResult keep_at(std::vector<int> owners, std::uint32_t stage, const SourceFacts& source,
                      Body body);
  // Runs a stage that is none of the plan's. What is counted there is counted again when all records are
  // read, and only then counts.
  std::vector<PartOutcome> sample(const std::string& name, const SourceFacts& source, Body body);

 private:
  StageSpec spec_of(std::uint32_t stage, const SourceFacts& source, Body body) const;
  StageResult run_uncounted(std::uint32_t stage, StageSpec spec);
  StageResult run(std::uint32_t stage, StageSpec spec);

  const JobOptions options_;
  const std::unique_ptr<JobEngine> engine_;
  JobParameters parameters_;
  bool lists_parameters_ = false;
  std::vector<std::string> counter_names_;
  std::vector<std::int64_t> counts_;
  std::vector<PlanStage> stages_;
};
using JobRef = std::shared_ptr<JobContext>;

JobEngineOptions engine_options(const JobOptions& options);

// Ends a job whose plan is only explained, at its first result. No std::exception, so that no handler of
// the job's keeps it.
struct PlanIsComplete {};

// A stage whose records later stages read. It runs when the first of them does, once, and its records
// are kept as long as it lives. It does not keep the job alive: the job's engine holds functions that
// hold stages.
class StageNode {
 public:
  // Makes the stage's function, for so many partitions; may run other stages.
  using MakeBody = std::function<JobContext::Body(JobContext& job, std::size_t partitions)>;
  // `partitions`: how many are wanted; 0 = by the bytes of the source.
  StageNode(const JobRef& job, PlanStage plan, SourceFacts source, std::size_t partitions,
            MakeBody make_body);
  // By the bytes of another source beside its own, with which it is joined.
  StageNode(const JobRef& job, PlanStage plan, SourceFacts source, SourceFacts beside,
            MakeBody make_body);

  // REQUIRES: the job lives.
  void ensure();
  // The rest REQUIRES ensure().
  const std::shared_ptr<const KeptRecords>& dataset() const { return dataset_; }
  std::size_t partitions() const { return dataset_->partitions(); }
  // Of the records that it reads, as SourceFacts has it; 0 = none.
  std::size_t earlier_partitions() const { return source_.partitions ? source_.partitions() : 0; }
  // For the engine: a partition, or a part.
  SliceSet partition(std::size_t index) const { return {number_, false, index}; }
  SliceSet part(std::size_t index) const { return {number_, true, index}; }

  std::uint32_t id() const { return id_; }

 private:
  const std::weak_ptr<JobContext> job_;
  const SourceFacts source_;
  const std::optional<SourceFacts> beside_;
  const std::size_t wanted_partitions_;
  const MakeBody make_body_;
  const std::uint32_t id_;
  StageNumber number_ = 0;  // of the engine
  std::shared_ptr<const KeptRecords> dataset_;
};
using StageNodeRef = std::shared_ptr<StageNode>;

}  // namespace actorflow
