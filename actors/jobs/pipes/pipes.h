// The narrow operators: each takes the records of another and passes its own on, all in one loop.
//
// A pipe has
//   using Record               what it gives
//   run(part, index, next)     calls next(record) for each record of the source's part `index`, in order
//   sample(part, index, next)  the same for some of them, from all over the part, which follow from its
//                              records alone; returns of how many each is one; only if is_cheap
//   is_cheap                   to run it twice costs little more than to keep its records
//   facts(), describe(plan)    its source; its operators, added to a plan
// and is copied into the function of its stage.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "schema/records/key.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// Steps: what becomes of one record. A part has a copy of its own.

template <class T, class F>
struct MapStep {
  using Record = std::decay_t<std::invoke_result_t<F&, T&&>>;
  F function;
  OperatorRef op;

  template <class Next>
  void operator()(T&& record, Next& next) {
    next(call_user(*op, function, std::move(record)));
  }
};

template <class T, class F>
struct FilterStep {
  using Record = T;
  F function;
  OperatorRef op;

  template <class Next>
  void operator()(T&& record, Next& next) {
    if (call_user(*op, function, std::as_const(record))) next(std::move(record));
  }
};

// The function gives a range of records.
template <class T, class F>
struct FlatMapStep {
  using Range = std::invoke_result_t<F&, T&&>;
  using Record = std::decay_t<std::ranges::range_reference_t<Range>>;
  // The elements die with the range, so they may be moved.
  static constexpr bool owns = !std::is_reference_v<Range> && !std::ranges::view<Range>;
  F function;
  OperatorRef op;

  // The range may compute its elements while it is traversed, so an exception outside of next() is the
  // user's.
  template <class Next>
  void operator()(T&& record, Next& next) {
    bool ours = false;
    try {
      for (auto&& element : function(std::move(record))) {
        ours = true;
        if constexpr (owns)
          next(Record(std::move(element)));
        else
          next(Record(element));
        ours = false;
      }
    } catch (...) {
      if (ours) throw;
      throw_operator_failure(*op);
    }
  }
};

template <class Before, class Step>
struct StepPipe {
  using Record = typename Step::Record;
  static constexpr bool is_cheap = Before::is_cheap;

  Before before;
  Step step;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    before.run(part, index, [own = step, &next](typename Before::Record&& record) mutable {
      own(std::move(record), next);
    });
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    return before.sample(part, index, [own = step, &next](typename Before::Record&& record) mutable {
      own(std::move(record), next);
    });
  }
  SourceFacts facts() const { return before.facts(); }
  void describe(PlanStage& plan) const {
    before.describe(plan);
    plan.operators.push_back(*step.op);
  }
};

// The parts of the second pipe follow those of the first.
template <class First, class Second>
struct UnionPipe {
  using Record = typename First::Record;
  static_assert(std::is_same_v<Record, typename Second::Record>,
                "union_with joins collections of the same type");
  static constexpr bool is_cheap = First::is_cheap && Second::is_cheap;

  First first;
  Second second;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    const std::size_t others = first.facts().parts();
    if (index < others)
      first.run(part, index, next);
    else
      second.run(part, index - others, next);
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    const std::size_t others = first.facts().parts();
    return index < others ? first.sample(part, index, next) : second.sample(part, index - others, next);
  }
  SourceFacts facts() const {
    const SourceFacts a = first.facts(), b = second.facts();
    return {
        [a, b] {
          a.prepare();
          b.prepare();
        },
        [a, b] { return a.parts() + b.parts(); },
        [a, b] { return a.bytes() + b.bytes(); },
        [a, b](std::size_t part) {
          const std::size_t others = a.parts();
          const SourceFacts& facts = part < others ? a : b;
          return facts.inputs ? facts.inputs(part < others ? part : part - others)
                              : std::vector<SliceSet>();
        },
        [a, b] {
          return (a.contents ? a.contents() : std::string()) +
                 (b.contents ? ", " + b.contents() : std::string());
        },
        [a, b](Storage& storage) {
          return (a.times ? a.times(storage) : std::string()) +
                 (b.times ? ", " + b.times(storage) : std::string());
        },
        [a, b] { return (a.partitions ? a.partitions() : 0) + (b.partitions ? b.partitions() : 0); },
        [a, b](std::size_t part) {
          const std::size_t others = a.parts();
          const SourceFacts& facts = part < others ? a : b;
          return facts.part_bytes ? facts.part_bytes(part < others ? part : part - others)
                                  : std::uint64_t{0};
        }};
  }
  void describe(PlanStage& plan) const {
    first.describe(plan);
    second.describe(plan);
    plan.operators.push_back(*op);
  }
};

// The number of the values and a hash of their encodings.
template <class T>
std::string describe_values(const std::vector<T>& values) {
  constexpr std::size_t block_bytes = std::size_t{1} << 20;
  std::uint64_t hash = 0;
  std::vector<std::byte> block(sizeof hash);  // the hash of the blocks before, then values
  const auto close_block = [&] {
    std::memcpy(block.data(), &hash, sizeof hash);
    hash = hash_bytes(block);
    block.resize(sizeof hash);
  };
  for (const T& value : values) {
    const std::size_t begin = block.size();
    block.resize(begin + encoded_size(value));
    encode(value, block.data() + begin);
    if (block.size() >= block_bytes) close_block();
  }
  close_block();
  return std::to_string(values.size()) + " values (hash " + std::to_string(hash) + ")";
}

// Records that the program has given as values.
template <class T>
struct ValuesPipe {
  using Record = T;
  static constexpr bool is_cheap = true;

  std::shared_ptr<const std::vector<T>> values;
  std::size_t parts;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    const std::size_t first = values->size() * index / parts,
                      last = values->size() * (index + 1) / parts;
    part.feed(
        last - first, [&](std::uint64_t i) { return T((*values)[first + i]); }, next);
    part.has_read(0, last - first);
  }
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    run(part, index, next);
    return 1;
  }
  SourceFacts facts() const {
    return {[] {},
            [n = parts] { return n; },
            [v = values] { return v->size() * sizeof(T); },
            {},
            [v = values] { return describe_values(*v); }};
  }
  void describe(PlanStage& plan) const { plan.operators.push_back(*op); }
};

enum class StageReads { parts, partitions };

// What pipes have in common that read one earlier stage: its parts as they are, or its partitions.
template <StageReads reads>
struct StageSource {
  StageNodeRef stage;
  OperatorRef op;

  SourceFacts facts() const {
    return {
        [s = stage] { s->ensure(); },
        [s = stage] { return reads == StageReads::parts ? s->dataset()->parts() : s->partitions(); },
        [s = stage] { return s->dataset()->bytes(); },
        [s = stage](std::size_t part) {
          return std::vector{reads == StageReads::parts ? s->part(part) : s->partition(part)};
        },
        {},
        {},
        [s = stage] { return reads == StageReads::parts ? s->earlier_partitions() : s->partitions(); }};
  }
  void describe(PlanStage& plan) const {
    plan.reads.push_back(stage->id());
    plan.operators.push_back(*op);
  }
};
using PartsSource = StageSource<StageReads::parts>;
using PartitionsSource = StageSource<StageReads::partitions>;

// The same of those that read the partitions of two stages, which have equally many.
struct TwoPartitionsSource {
  StageNodeRef left, right;
  OperatorRef op;

  SourceFacts facts() const {
    return {[l = left, r = right] {
              l->ensure();
              r->ensure();
            },
            [l = left] { return l->partitions(); },
            [l = left, r = right] { return l->dataset()->bytes() + r->dataset()->bytes(); },
            [l = left, r = right](std::size_t part) {
              return std::vector{l->partition(part), r->partition(part)};
            },
            {},
            {},
            [l = left] { return l->partitions(); }};
  }
  void describe(PlanStage& plan) const {
    plan.reads.push_back(left->id());
    plan.reads.push_back(right->id());
    plan.operators.push_back(*op);
  }
};

// Passes the records of a slice on by feed(count, take), which calls take(0) and so on. Flat ones lie
// there as they are: a loop with nothing but their number.
template <class T, class Feed>
void feed_slice(Part& part, const SliceReader::Slice& slice, const Feed& feed) {
  bool is_fed = false;
  if constexpr (is_flat_record<T>) {
    is_fed = slice.bytes.size() >= slice.records * sizeof(T);
    const auto take = [at = slice.bytes.data()](std::uint64_t i) {
      T record;
      std::memcpy(&record, at + i * sizeof(T), sizeof(T));
      return record;
    };
    if (is_fed) feed(slice.records, take);
  }
  if (!is_fed) {
    RecordReader reader(slice.bytes);
    feed(slice.records, [&](std::uint64_t) { return decode<T>(reader); });
  }
  part.has_read(slice.bytes.size(), slice.records);
}

// The records that an earlier stage has kept, part by part. The place of one follows from its number:
// where the slices end depends on the memory of the job.
template <class T>
struct KeptPipe : PartsSource {
  using Record = T;
  static constexpr bool is_cheap = true;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    std::uint64_t number = 0;
    const auto feed = [&](std::uint64_t count, const auto& take) {
      for (std::uint64_t begin = 0; begin < count;) {
        const auto some = std::min(count - begin, records_a_place - number % records_a_place);
        part.set_place(number / records_a_place);
        part.feed(
            some, [&](std::uint64_t i) { return take(begin + i); }, next);
        begin += some;
        number += some;
      }
    };
    auto slices = SliceReader::of_part(stage->dataset(), index);
    for (SliceReader::Slice slice; slices.next(slice);) feed_slice<T>(part, slice, feed);
  }
  // A sample: every n-th record.
  template <class Next>
  double sample(Part& part, std::size_t index, Next&& next) const {
    constexpr std::uint64_t enough = 4000;
    const auto& kept = *stage->dataset();
    const std::uint64_t records = kept.records_before(index + 1) - kept.records_before(index),
                        stride = std::max<std::uint64_t>(1, records / enough);
    std::uint64_t number = 0;
    auto slices = SliceReader::of_part(stage->dataset(), index);
    for (SliceReader::Slice slice; slices.next(slice);) {
      RecordReader reader(slice.bytes);
      for (std::uint64_t i = 0; i < slice.records; ++i) {
        T record = decode<T>(reader);
        part.set_place(number / records_a_place);
        if (number++ % stride == 0) part.feed([&] { next(std::move(record)); });
      }
      part.has_read(slice.bytes.size(), slice.records);
    }
    return static_cast<double>(stride);
  }

 private:
  static constexpr std::uint64_t records_a_place = 64;
};

// The same with their numbers: the parts before have told how many they are.
template <class T>
struct NumberedPipe : PartsSource {
  using Record = std::pair<std::int64_t, T>;
  static constexpr bool is_cheap = false;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    std::int64_t number = static_cast<std::int64_t>(stage->dataset()->records_before(index));
    KeptPipe<T>{{stage, op}}.run(part, index,
                                 [&](T&& record) { next(Record(number++, std::move(record))); });
  }
};

// The records of each partition of a stage, in the order of the parts that gave them.
template <class T>
struct PartitionPipe : PartitionsSource {
  using Record = T;
  static constexpr bool is_cheap = false;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    auto slices = SliceReader::of_partition(stage->dataset(), index);
    const auto feed = [&](std::uint64_t count, const auto& take) { part.feed(count, take, next); };
    for (SliceReader::Slice slice; slices.next(slice);) feed_slice<T>(part, slice, feed);
  }
};

}  // namespace actorflow
