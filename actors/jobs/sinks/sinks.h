// Sinks: where the records of a stage go. A sink belongs to one part: it is called for each record, and
// then finish() once.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/context/job_context.h"
#include "actors/jobs/engine/parts/part.h"
#include "actors/jobs/sinks/folds.h"
#include "actors/jobs/sinks/held_values.h"
#include "actors/jobs/sinks/skew.h"
#include "dataflow/values/error.h"
#include "kernels/shuffle/partition_buffer.h"
#include "kernels/shuffle/partition_of.h"
#include "schema/records/key.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// Passes all records of the part to the sink.
template <class Sink, class Pipe>
void run_into(Sink& sink, const Pipe& pipe, Part& part) {
  pipe.run(part, part.index(), sink);
  sink.finish();
}

// Encoded records by partition, handed over in chunks.
class ChunkWriter {
 public:
  ChunkWriter(Part& part, std::size_t partitions)
      : part_(part),
        buffer_(static_cast<std::uint32_t>(partitions), part.chunk_bytes(), part.allocator()) {}

  // Makes room for the partition's next record and returns where to encode its `bytes` bytes.
  std::byte* append(std::size_t partition, std::size_t bytes) {
    const auto to = static_cast<std::uint32_t>(partition);
    if (!buffer_.has_room(to, bytes)) make_room(bytes);
    ++records_;
    return buffer_.append(to, bytes);
  }
  // The same for records of that size that are encoded already, one behind the other, of the only
  // partition.
  void append_all(std::span<const std::byte> records, std::size_t bytes) {
    while (!records.empty()) {
      if (!buffer_.has_room(0, bytes)) make_room(bytes);
      std::size_t count = records.size() / bytes;
      std::byte* const to = buffer_.append_some(bytes, count);
      std::memcpy(to, records.data(), count * bytes);
      records = records.subspan(count * bytes);
      records_ += count;
    }
  }
  void finish() {
    if (!buffer_.empty()) hand_over();
    part_.count_records(records_);
  }

 private:
  void make_room(std::size_t bytes) {
    part_.expect_room_for(bytes);
    if (!buffer_.empty()) hand_over();
  }
  void hand_over() { part_.hand_over(buffer_.take()); }

  Part& part_;
  PartitionBuffer buffer_;
  std::uint64_t records_ = 0;
};

// Divides pairs by the hash of their keys.
template <class K, class V>
class HashSink {
 public:
  HashSink(Part& part, std::size_t partitions)
      : part_(part), partitions_(static_cast<std::uint32_t>(partitions)), chunks_(part, partitions) {}

  void operator()(const std::pair<K, V>& record) {
    const auto key = key_bytes(record.first, scratch_);
    const std::uint64_t hash = hash_bytes(key);
    const std::size_t bytes = encoded_size(record);
    heavy_.see(hash, key, bytes);
    encode(record, chunks_.append(partition_of(hash, partitions_), bytes));
  }
  void finish() {
    chunks_.finish();
    heavy_.tell(part_, partitions_);
  }

 private:
  Part& part_;
  const std::uint32_t partitions_;
  ChunkWriter chunks_;
  HeavyKeyOfPart<K> heavy_;
  std::vector<std::byte> scratch_;
};

// Divides records by the hash of the key that `key_of` gives.
template <class T, class KeyOf>
class KeySink {
 public:
  KeySink(Part& part, std::size_t partitions, KeyOf key_of, OperatorRef op)
      : partitions_(static_cast<std::uint32_t>(partitions)),
        key_of_(std::move(key_of)),
        op_(std::move(op)),
        chunks_(part, partitions) {}

  void operator()(const T& record) {
    const auto key = call_user(*op_, [&] {
      return std::decay_t<std::invoke_result_t<KeyOf&, const T&>>(std::invoke(key_of_, record));
    });
    const std::uint64_t hash = hash_bytes(key_bytes(key, scratch_));
    encode(record, chunks_.append(partition_of(hash, partitions_), encoded_size(record)));
  }
  void finish() { chunks_.finish(); }

 private:
  const std::uint32_t partitions_;
  KeyOf key_of_;
  const OperatorRef op_;
  ChunkWriter chunks_;
  std::vector<std::byte> scratch_;
};

// Deals records out, one to each partition in turn. With one partition they keep their order.
template <class T>
class DealSink {
 public:
  DealSink(Part& part, std::size_t partitions) : DealSink(part, partitions, part.index() % partitions) {}
  // `first`: the partition of the first record.
  DealSink(Part& part, std::size_t partitions, std::size_t first)
      : partitions_(partitions), next_(first), chunks_(part, partitions) {}

  void operator()(const T& record) {
    encode(record, chunks_.append(next_, encoded_size(record)));
    next_ = next_ + 1 == partitions_ ? 0 : next_ + 1;
  }
  // Records as they lie in memory, without a loop over them.
  bool takes_blocks() const { return is_flat_record<T> && partitions_ == 1; }
  void take_block(std::span<const std::byte> records) { chunks_.append_all(records, sizeof(T)); }
  void finish() { chunks_.finish(); }

 private:
  const std::size_t partitions_;
  std::size_t next_;
  ChunkWriter chunks_;
};

// Divides pairs as HashSink, and combines values of a key that meet in its table: the first becomes a
// state, begin(value), others are folded into it by add. The table's size is a constant, so that it
// depends on the records only which values meet.
template <class K, class V, class State, class Begin, class Add>
class CombineSink {
 public:
  static constexpr std::size_t table_bytes = std::size_t{8} << 20;

  CombineSink(Part& part, std::size_t partitions, Begin begin, Add add, OperatorRef op)
      : partitions_(static_cast<std::uint32_t>(partitions)),
        table_(table_bytes),
        chunks_(part, partitions),
        begin_(std::move(begin)),
        add_(std::move(add)),
        op_(std::move(op)) {}

  void operator()(std::pair<K, V>&& record) {
    const auto key = key_bytes(record.first, scratch_);
    table_.set(
        hash_bytes(key), key, [&] { return call_user(*op_, begin_, std::move(record.second)); },
        [&](State& state) { fold_value(*op_, add_, state, std::move(record.second)); });
    if (table_.full()) drain();
  }
  void finish() {
    drain();
    chunks_.finish();
  }

 private:
  void drain() {
    table_.rows().for_each_partition(
        partitions_, [this](std::uint64_t hash) { return partition_of(hash, partitions_); },
        [this](std::uint32_t partition, std::uint64_t, std::span<const std::byte> key, State& state) {
          const std::size_t bytes = encoded_size_of_key<K>(key) + encoded_size(state);
          encode(state, encode_key<K>(key, chunks_.append(partition, bytes)));
        });
    table_.clear();
  }

  const std::uint32_t partitions_;
  ValueTable<State> table_;
  ChunkWriter chunks_;
  Begin begin_;
  Add add_;
  OperatorRef op_;
  std::vector<std::byte> scratch_;
};

// Collects the records for the program.
template <class T>
class CollectSink {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  explicit CollectSink(Part& part) : part_(part) {}

  void operator()(const T& record) {
    const std::size_t begin = bytes_.size(), size = encoded_size(record);
    if (begin + size > most_bytes) throw Error(limit().more);
    bytes_.resize(begin + size);
    encode(record, bytes_.data() + begin);
    ++records_;
  }
  void finish() {
    part_.count_records(records_);
    part_.set_result(std::move(bytes_));
  }

  // The limit for the results of all parts together.
  static ResultLimit limit() {
    return {most_bytes,
            {Code::resource_exhausted,
             "collect() brings at most 64 MiB to the program, and there is more: write the records to "
             "files, or take fewer with top(), sample() or filter()"}};
  }

 private:
  Part& part_;
  std::vector<std::byte> bytes_;
  std::uint64_t records_ = 0;
};

}  // namespace actorflow
