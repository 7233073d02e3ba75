// Stages of a job whose records later ones read. For the headers of actors/jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "actors/jobs/context/job_context.h"

namespace actorflow {

// A stage whose records later stages read. It runs when the first of them does, once, and its records
// are kept as long as it lives. It does not keep the job alive: the job's engine holds functions that
// hold stages.
class StageNode {
 public:
  // Makes the stage's function for that number of partitions; may run other stages.
  using MakeBody = std::function<JobContext::Body(JobContext& job, std::size_t partitions)>;
  // `partitions`: how many are wanted; 0 = by the bytes of the source.
  StageNode(const JobRef& job, PlanStage plan, SourceFacts source, std::size_t partitions,
            MakeBody make_body);
  // For one side of a join: the number of partitions follows from the bytes of both sources.
  StageNode(const JobRef& job, PlanStage plan, SourceFacts source, SourceFacts beside,
            MakeBody make_body);

  // REQUIRES: the job lives.
  void ensure();
  // The rest REQUIRES ensure().
  const std::shared_ptr<const KeptRecords>& dataset() const { return dataset_; }
  std::size_t partitions() const { return dataset_->partitions(); }
  // SourceFacts::partitions of the records that the stage reads; 0 = none.
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
