// The records of a job on several tasks as datasets: each task that trains has a share of them, in its
// own memory or on its own disk, where it stays when the job has ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/dataset.h"
#include "actors/jobs/collection.h"
#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/tensors/kept_rows.h"

namespace actorflow {

// Of `all` records those number `own`, `own` + `shares`, ... Copies are cheap.
template <class T>
struct RecordShare {
  std::int64_t all = 0;
  int shares = 1, own = -1;              // -1: this task trains nothing, and has none
  std::optional<StoredRecord<T>> first;  // of all: whoever asks what an example looks like looks at that
  std::shared_ptr<const KeptRecords> kept;
};

// Throws failed_precondition: the record is on another task.
[[noreturn, gnu::cold]] void throw_elsewhere(std::int64_t record, int shares, int own);
// Throws unavailable: the task has begun anew after the first task of the job has dropped its copy of
// the dataset, with what the records are made of.
[[noreturn, gnu::cold]] void throw_share_lost();

// All records by their numbers, of which it gives those of a share. Others can be skipped.
template <class T>
class ShareStage final : public Stage {
 public:
  explicit ShareStage(RecordShare<T> share) : share_(std::move(share)) {}

  void restart(std::int64_t) override {
    next_ = 0;
    rows_.clear();
    if (share_.own >= 0)
      rows_.begin(SliceReader::of_part(share_.kept, static_cast<std::size_t>(share_.own)));
  }
  bool next(Tuple& element) override {
    if (next_ == share_.all) return false;
    if (is_own(next_)) {
      if (!rows_.fill()) throw_share_lost();
      element = rows_.take();
    } else if (next_ == 0) {
      element = row_of(tensors_of(std::span<const StoredRecord<T>>(&*share_.first, 1)), 0);
    } else {
      throw_elsewhere(next_, share_.shares, share_.own);
    }
    ++next_;
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    const std::int64_t passed = std::min(count, share_.all - next_);
    std::int64_t own = own_before(next_ + passed) - own_before(next_);
    next_ += passed;
    while (own > 0) {
      if (!rows_.fill()) throw_share_lost();
      own -= rows_.pass(own);
    }
    return passed;
  }

 private:
  bool is_own(std::int64_t record) const {
    return share_.own >= 0 && record % share_.shares == share_.own;
  }
  std::int64_t own_before(std::int64_t record) const {
    return share_.own < 0 ? 0 : (record - share_.own + share_.shares - 1) / share_.shares;
  }

  const RecordShare<T> share_;
  KeptRows<T> rows_;
  std::int64_t next_ = 0;
};

// The records of a job, dealt out to the tasks that train, each of which fetches those that are its own.
// Runs now, on all tasks. As long as the job runs and its first task keeps what this returns, a task
// that has begun anew gets its share again; from then on run_job() throws unavailable there.
template <class Pipe>
auto share_of(const Collection<Pipe>& records,
              std::source_location where = std::source_location::current()) {
  using T = typename Pipe::Record;
  const JobRef job = records.job();
  const auto trainers = job->engine().trainers();
  if (trainers.tasks.empty())
    throw invalid_argument("a dataset is for tasks that train, and this cluster has none");
  const auto kept = records.cache(where);
  const auto op = make_operator<T>("dataset", where);
  const auto plan = [](const auto& pipe, std::string gives) {
    PlanStage stage;
    pipe.describe(stage);
    stage.gives = std::move(gives);
    return stage;
  };
  // By number, which is known once all are kept.
  const auto deal = [pipe = kept.pipe()](JobContext&, std::size_t shares) {
    return [pipe, shares](Part& part) {
      DealSink<T> sink(part, shares, pipe.stage->dataset()->records_before(part.index()) % shares);
      run_into(sink, pipe, part);
    };
  };
  const PartitionPipe<T> dealt{
      {std::make_shared<StageNode>(job, plan(kept.pipe(), "shares"), kept.pipe().facts(),
                                   trainers.tasks.size(), deal),
       op}};
  const std::uint32_t stage = job->add_stage(plan(dealt, "a dataset on each task"));
  if (job->options().explain) throw PlanIsComplete();
  const SourceFacts facts = dealt.facts();
  facts.prepare();
  const auto made = job->keep_at(trainers.tasks, stage, facts, [dealt](Part& part) {
    DealSink<T> sink(part, 1);
    std::optional<StoredRecord<T>> first;
    dealt.run(part, part.index(), [&](T&& record) {
      if (!first) first = stored(record);
      sink(record);
    });
    sink.finish();
    if (part.index() == 0) set_part_result(part, first);
  });
  RecordShare<T> share;
  const KeptRecords& all = *kept.pipe().stage->dataset();
  share.all = static_cast<std::int64_t>(all.records_before(all.parts()));
  share.shares = static_cast<int>(trainers.tasks.size());
  share.own = trainers.own;
  RecordReader first(made.outcomes.at(0).result);
  share.first = decode<std::optional<StoredRecord<T>>>(first);
  share.kept = made.kept;
  if (share.own >= 0 && !share.kept->has(static_cast<std::size_t>(share.own), 0)) throw_share_lost();
  return share;
}

template <class T>
Dataset shared_dataset(RecordShare<T> share) {
  if (share.own < 0) share.all = 0;
  return Dataset([share = std::move(share)](const InputContext&) -> StageRef {
    return std::make_unique<ShareStage<T>>(share);
  });
}

// The share alone.
template <class T>
Dataset own_dataset(RecordShare<T> share) {
  const int shares = share.shares, own = share.own;
  const Dataset all = shared_dataset(std::move(share));
  return own < 0 ? all : all.shard(shares, own);
}

}  // namespace actorflow
