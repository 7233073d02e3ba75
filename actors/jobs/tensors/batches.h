// Jobs and tensors: records as the input of a training program, and a graph applied to records.
//
//   server.serve_input("train", examples.batch(64).dataset());
//
//   const GraphFunction model({images}, {logits}, checkpoint.tensors);
//   job.read_idx<Image>(path).batch(128).map<std::array<float, 10>>(model, as_floats).write_csv(folder);
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actors/jobs/collection.h"
#include "actors/jobs/tensors/graph_function.h"
#include "actors/jobs/tensors/job_dataset.h"

namespace actorflow {

// Pairs of each record and the graph's result for it. Records come in batches, so the error of a later
// function names no record, and --skip_bad_records does not leave out the record that caused it.
template <class Before, class Result, class Features>
struct GraphPipe {
  using Stored = StoredRecord<typename Before::Record>;
  using Record = std::pair<Stored, Result>;
  static constexpr bool is_cheap = false;

  Before before;
  GraphFunction model;
  Features features;
  std::size_t size;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    std::vector<Stored> batch;
    const auto give = [&] {
      try {
        pass_on(batch, next);
      } catch (const OperatorFailure& failure) {
        throw Error(failure.code(), failure.what());
      }
      batch.clear();
    };
    before.run(part, index, [&](typename Before::Record&& record) {
      batch.push_back(stored(record));
      if (batch.size() == size) give();
    });
    if (!batch.empty()) give();
  }
  SourceFacts facts() const { return before.facts(); }
  void describe(PlanStage& plan) const {
    before.describe(plan);
    plan.operators.push_back(*op);
  }

 private:
  using Fed = std::decay_t<std::invoke_result_t<const Features&, const Stored&>>;

  template <class Next>
  void pass_on(std::vector<Stored>& batch, Next& next) const {
    auto results = call_user(*op, [&] {
      std::vector<Fed> fed;
      fed.reserve(batch.size());
      for (const Stored& record : batch) fed.push_back(std::invoke(features, record));
      return records_of<Result>(model(tensors_of(std::span<const Fed>(fed))), batch.size());
    });
    for (std::size_t i = 0; i < batch.size(); ++i)
      next(Record(std::move(batch[i]), std::move(results[i])));
  }
};

struct DatasetOptions {
  bool drop_remainder = false;  // records at the end that do not fill a batch
  int parallel = 1;             // parts that are computed at once, on threads that are free
};

// The records of a collection, so many at a time, as tensors (record_tensors.h).
template <class Pipe>
class Batches {
 public:
  using Where = std::source_location;

  Batches(Collection<Pipe> records, std::int64_t size) : records_(std::move(records)), size_(size) {
    if (size < 1) throw invalid_argument("a batch has one record at least");
  }

  // For DatasetIterators, or Server::serve_input. The stages before the last one run now; the parts of
  // the last one when their records are asked for, one after the other, in each pass: cache() what
  // costs much. So shuffles of the job come once, and those of the dataset in each pass. Keeps the job's
  // threads and its records as long as it lives: so a server that serves it has another runtime than the
  // job, or ends before it does (Job::runtime()). Its functions count nothing, and bad records are not
  // left out.
  //
  // On several tasks (run_job.h) each task has the batches of its share: of n shares number i has the
  // records i, i + n, i + 2 n, ... All of them are computed now, and kept where they belong, so the
  // dataset may be used when the job has ended, as long as the server lives; records are counted and
  // left out as in other stages. Keep it until then: a task that is lost and comes back while the job
  // runs gets its share again only as long as the first task has the dataset, else it throws
  // unavailable.
  Dataset dataset(const DatasetOptions& options = {}) const {
    const Dataset elements = records_.job()->engine().has_others()
                                 ? own_dataset(share_of(records_))
                                 : dataset_of(records_, std::max(options.parallel, 1));
    return elements.batch(size_, {.drop_remainder = options.drop_remainder});
  }

  // Pairs of each record and the Result that the graph makes of `features(record)`: the columns of these
  // are the inputs of the graph, and those of Result its outputs, all with as many rows as there are
  // records in the batch. The last batch of a part may be smaller. Fails as invalid_argument where types
  // differ.
  template <class Result, class Features = std::identity>
  auto map(GraphFunction model, Features features = {}, Where where = Where::current()) const {
    using Mapped = GraphPipe<Pipe, Result, Features>;
    return records_.with(Mapped{records_.pipe(), std::move(model), std::move(features),
                                static_cast<std::size_t>(size_),
                                make_operator<typename Mapped::Record>("batch_map", where)});
  }

 private:
  Collection<Pipe> records_;
  std::int64_t size_;
};

template <class Pipe>
Batches<Pipe> Collection<Pipe>::batch(std::int64_t size) const {
  return {*this, size};
}

}  // namespace actorflow
