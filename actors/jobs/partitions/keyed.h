// The pairs of a partition folded by key.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/partitions/groups.h"
#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/sinks/folds.h"
#include "actors/jobs/sinks/held_values.h"
#include "actors/jobs/sinks/skew.h"
#include "actors/jobs/sorting/record_order.h"
#include "actors/jobs/sorting/runs.h"
#include "kernels/shuffle/group_table.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// One pair for each key of a partition, by the hash of the key: its values, folded in the order of the
// parts that gave them, one after the other. What does not fit into memory any more is sorted and then
// folded, so that the result is the same to the last bit, and in the same order, for any memory.
template <class K, class V, class Fold>
struct ReducePipe : PartitionsSource {
  using Stored = StoredRecord<V>;
  using Record = std::pair<K, Stored>;
  static constexpr bool is_cheap = false;

  Fold fold;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    std::optional<ValueTable<Stored>> table(part.memory_bytes() / 4 * 3);
    Fold own = fold;
    auto slices = SliceReader::of_partition(stage->dataset(), index);
    for (SliceReader::Slice slice; slices.next(slice);) {
      if (fold_slice(part, *table, own, slice)) continue;
      const Run early = put_aside(part, *table);
      table.reset();
      KeyGroups<K, V> late(part, slice, std::move(slices), part.memory_bytes() / 4 * 3);
      return merge(part, early, late, own, next);
    }
    table->rows().for_each_by_hash([&](std::uint64_t, std::span<const std::byte> key, Stored& value) {
      part.feed([&] { next(Record(key_from_bytes<K>(key), std::move(value))); });
    });
  }

 private:
  using Order = HashOrder<K, Stored>;

  // Folds a slice into the table. False if the table is full: the rest of the slice is not folded then.
  bool fold_slice(Part& part, ValueTable<Stored>& table, Fold& own, SliceReader::Slice& slice) const {
    RecordReader reader(slice.bytes);
    std::uint64_t folded = 0;
    for (; folded < slice.records && !table.full(); ++folded) {
      const auto key = take_key<K>(reader);
      V value = decode<V>(reader);
      table.set(
          hash_bytes(key), key, [&] { return stored(value); },
          [&](Stored& state) { fold_value(*op, own, state, std::move(value)); });
    }
    const auto bytes = static_cast<std::size_t>(reader.at - reader.begin);
    part.has_read(bytes, folded);
    slice.bytes = slice.bytes.subspan(bytes);
    slice.records -= folded;
    return slice.records == 0;
  }

  static Run put_aside(Part& part, ValueTable<Stored>& table) {
    RunWriter writer(part);
    table.rows().for_each_by_hash([&](std::uint64_t, std::span<const std::byte> bytes, Stored& value) {
      const std::size_t size = encoded_size_of_key<K>(bytes) + encoded_size(value);
      encode(value, encode_key<K>(bytes, writer.append(size)));
    });
    return writer.finish();
  }

  // `early`: for each key what its first values were folded into; `late`: the values that came then.
  template <class Next>
  void merge(Part& part, const Run& early, KeyGroups<K, V>& late, Fold& own, Next& next) const {
    const Order order;
    ReadRun<Record, Order> folded(part, early, order);
    while (!folded.done() || late.pair()) {
      const bool is_new = folded.done() || is_before(late, folded, order);
      const StoredRecord<K> key = stored(is_new ? late.pair()->first : folded.value().first);
      const std::uint64_t prefix = is_new ? late.prefix() : folded.prefix();
      Stored value = is_new ? stored(late.pair()->second) : folded.value().second;
      is_new ? late.advance() : folded.advance();
      for (; late.is_at(key, prefix); late.advance()) {
        fold_value(*op, own, value, V(late.pair()->second));
        if (const std::size_t bytes = heap_bytes(value); bytes > part.memory_bytes())
          throw_large_value(*op, key_text(key), bytes, part.memory_bytes());
      }
      part.feed([&] { next(Record(K(key), std::move(value))); });
    }
  }
  static bool is_before(const KeyGroups<K, V>& late, const ReadRun<Record, Order>& folded,
                        const Order& order) {
    if (!late.pair() || late.prefix() != folded.prefix())
      return late.pair() && late.prefix() < folded.prefix();
    return order.compare_keys(late.pair()->first, folded.value().first) < 0;
  }
};

}  // namespace actorflow
