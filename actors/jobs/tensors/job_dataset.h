// The records of a job as a dataset.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/jobs/collection.h"
#include "actors/jobs/tensors/job_share.h"
#include "actors/jobs/tensors/kept_rows.h"

namespace actorflow {

// The records of some parts, which are computed on this thread and on free ones of `team`, unless that
// is null. Throws what the job's functions throw.
std::deque<std::shared_ptr<const KeptRecords>> run_parts_here(const JobTools& tools, std::size_t first,
                                                              std::size_t count, Team* team,
                                                              const std::function<void(Part&)>& body);

// Computes one part after the other, or some at once on threads that are free, when the first of their
// records is asked for, and keeps the records of these only. REQUIRES: the source of the pipe is
// prepared.
template <class Pipe>
class JobStage final : public Stage {
 public:
  using Record = typename Pipe::Record;

  // `team`: may be null.
  JobStage(JobRef job, Pipe pipe, int parallel, Team* team)
      : job_(std::move(job)),
        pipe_(std::move(pipe)),
        parts_(pipe_.facts().parts()),
        parallel_(team ? parallel : 1),
        team_(team) {}

  void restart(std::int64_t) override {
    next_part_ = 0;
    computed_.clear();
    rows_.clear();
  }
  bool next(Tuple& element) override {
    if (!fill()) return false;
    element = rows_.take();
    return true;
  }
  std::int64_t append(std::int64_t count, RowStacker& rows) override {
    std::int64_t added = 0;
    for (; added < count && fill(); ++added) rows_.take_into(rows);
    return added;
  }
  std::int64_t skip(std::int64_t count) override {
    std::int64_t passed = 0;
    while (passed < count && fill()) passed += rows_.pass(count - passed);
    return passed;
  }

 private:
  // Whether there is a next record.
  bool fill() {
    while (!rows_.fill()) {
      if (computed_.empty() && !compute_parts()) return false;
      rows_.begin(SliceReader::of_part(std::move(computed_.front()), 0));
      computed_.pop_front();
    }
    return true;
  }
  // The next ones; false at the end.
  bool compute_parts() {
    const std::size_t count = std::min(static_cast<std::size_t>(parallel_), parts_ - next_part_);
    computed_ = run_parts_here(job_->engine().tools(), next_part_, count, team_, [this](Part& part) {
      DealSink<Record> sink(part, 1);
      run_into(sink, pipe_, part);
    });
    next_part_ += count;
    return count > 0;
  }

  const JobRef job_;
  const Pipe pipe_;
  const std::size_t parts_;
  const int parallel_;
  Team* const team_;
  std::size_t next_part_ = 0;
  std::deque<std::shared_ptr<const KeptRecords>> computed_;  // and not read yet
  KeptRows<Record> rows_;
};

// The records of a collection as elements, for Model::fit() and the like; Batches::dataset() says when
// they are computed. On several tasks each has a share, and a Dataset of all records that gives those of
// the share only (job_share.h): shard() takes these, as fit() does. Keep the dataset until the job has
// ended: while the first task has it, a task that comes in another's place gets its share again.
template <class Pipe>
Dataset dataset_of(const Collection<Pipe>& records, int parallel = 1) {
  const JobRef job = records.job();
  if (job->engine().has_others()) return shared_dataset(share_of(records));
  PlanStage plan;
  records.pipe().describe(plan);
  plan.gives = "a dataset";
  job->add_stage(std::move(plan));
  if (job->options().explain) throw PlanIsComplete();
  records.pipe().facts().prepare();
  return Dataset([job, pipe = records.pipe(), parallel](const InputContext& context) -> StageRef {
    return std::make_unique<JobStage<Pipe>>(job, pipe, parallel, context.team);
  });
}

}  // namespace actorflow
