#include "actors/jobs/context/stage_node.h"

#include <utility>

namespace actorflow {
namespace {

// As far as it is known before anything has run.
PlanStage with_partitions(const JobContext& job, PlanStage plan, std::size_t wanted,
                          const SourceFacts& source, const SourceFacts* beside) {
  plan.partitions = wanted;
  if (wanted == 0 && !source.inputs && !(beside && beside->inputs))
    plan.partitions = job.partitions_for(source.bytes() + (beside ? beside->bytes() : 0), 0);
  return plan;
}

}  // namespace

StageNode::StageNode(const JobRef& job, PlanStage plan, SourceFacts source, std::size_t partitions,
                     MakeBody make_body)
    : job_(job),
      source_(std::move(source)),
      wanted_partitions_(partitions),
      make_body_(std::move(make_body)),
      id_(job->add_stage(with_partitions(*job, std::move(plan), partitions, source_, nullptr))) {}

StageNode::StageNode(const JobRef& job, PlanStage plan, SourceFacts source, SourceFacts beside,
                     MakeBody make_body)
    : job_(job),
      source_(std::move(source)),
      beside_(std::move(beside)),
      wanted_partitions_(0),
      make_body_(std::move(make_body)),
      id_(job->add_stage(with_partitions(*job, std::move(plan), 0, source_, &*beside_))) {}

void StageNode::ensure() {
  if (dataset_) return;
  const JobRef job = job_.lock();
  source_.prepare();
  if (beside_) beside_->prepare();
  const std::uint64_t bytes = source_.bytes() + (beside_ ? beside_->bytes() : 0);
  const std::size_t partitions = wanted_partitions_ > 0
                                     ? wanted_partitions_
                                     : job->partitions_for(bytes, beside_ ? 0 : earlier_partitions());
  auto body = make_body_(*job, partitions);
  auto made = job->keep(id_, source_, partitions, std::move(body));
  number_ = made.number;
  dataset_ = std::move(made.kept);
}

}  // namespace actorflow
