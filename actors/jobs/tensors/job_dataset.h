// The records of a job as a dataset.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/jobs/collection.h"
#include "actors/jobs/tensors/record_tensors.h"

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
    slices_.reset();
    left_ = 0;
    row_ = rows_ = 0;
  }
  bool next(Tuple& element) override {
    if (!fill()) return false;
    element = row_of(columns_, row_++);
    return true;
  }
  std::int64_t append(std::int64_t count, RowStacker& rows) override {
    std::int64_t added = 0;
    for (; added < count && fill(); ++added) rows.add_row(columns_, row_++);
    return added;
  }
  std::int64_t skip(std::int64_t count) override {
    std::int64_t passed = 0;
    while (passed < count && fill()) {
      const std::int64_t here = std::min(count - passed, rows_ - row_);
      row_ += here;
      passed += here;
    }
    return passed;
  }

 private:
  static constexpr std::uint64_t block_records = 256;

  // The next records as rows; false at the end.
  bool fill() {
    if (row_ < rows_) return true;
    if (left_ == 0 && !next_slice()) return false;
    std::vector<Record> block;
    for (; left_ > 0 && block.size() < block_records; --left_) block.push_back(decode<Record>(*reader_));
    columns_ = tensors_of(std::span<const Record>(block));
    row_ = 0;
    rows_ = std::ssize(block);
    return true;
  }
  bool next_slice() {
    SliceReader::Slice slice;
    while (!slices_ || !slices_->next(slice)) {
      if (computed_.empty() && !compute_parts()) return false;
      slices_.emplace(SliceReader::of_part(std::move(computed_.front()), 0));
      computed_.pop_front();
    }
    reader_.emplace(slice.bytes);
    left_ = slice.records;
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
  std::optional<SliceReader> slices_;
  std::optional<RecordReader> reader_;  // of the present slice
  std::uint64_t left_ = 0;              // records in it
  Tuple columns_;                       // some records as rows
  std::int64_t row_ = 0, rows_ = 0;
};

// See Batches::dataset().
template <class Pipe>
Dataset dataset_of(const Collection<Pipe>& records, int parallel) {
  const JobRef job = records.job();
  PlanStage plan;
  records.pipe().describe(plan);
  plan.gives = "a dataset";
  job->add_stage(std::move(plan));
  if (job->options().explain) throw PlanIsComplete();
  if (job->engine().has_others())
    throw Error(
        Code::unimplemented,
        "a job on several tasks cannot be a dataset, since its records lie on all of them: write "
        "them to files, and read these");
  records.pipe().facts().prepare();
  return Dataset([job, pipe = records.pipe(), parallel](const InputContext& context) -> StageRef {
    return std::make_unique<JobStage<Pipe>>(job, pipe, parallel, context.team);
  });
}

}  // namespace actorflow
