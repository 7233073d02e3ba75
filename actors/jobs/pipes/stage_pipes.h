// Pipes that read what an earlier stage has kept: its parts as they are, or its partitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "actors/jobs/context/stage_node.h"
#include "schema/records/record_codec.h"

namespace actorflow {

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
