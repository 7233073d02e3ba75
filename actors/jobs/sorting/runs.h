// Sorted runs that a part has put aside, and their merge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/jobs/engine/parts/part.h"
#include "kernels/shuffle/loser_tree.h"
#include "schema/records/record_codec.h"

namespace actorflow {

class BlocksWhereItPays;

// Records on disk, in blocks that hold whole ones.
struct Run {
  struct Block {
    std::uint64_t offset = 0;
    std::size_t stored_bytes = 0;  // less than `bytes`: by LZ4
    std::size_t bytes = 0;
    std::size_t records = 0;
    std::uint64_t checksum = 0;  // XXH3 of what is stored
  };
  std::vector<Block> blocks;
};

// Writes blocks of records, by LZ4 where that pays (schema/formats/block_compression.h).
class RunWriter {
 public:
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  explicit RunWriter(Part& part) : part_(part) {}

  // Makes room for the next record and returns where to encode its `bytes` bytes.
  std::byte* append(std::size_t bytes) {
    if (!bytes_.empty() && bytes_.size() + bytes > block_bytes) flush();
    bytes_.resize(bytes_.size() + bytes);
    ++records_;
    return bytes_.data() + bytes_.size() - bytes;
  }
  Run finish() {
    if (records_ > 0) flush();
    return std::move(run_);
  }

 private:
  void flush();

  Part& part_;
  std::vector<std::byte> bytes_;
  std::shared_ptr<BlocksWhereItPays> shrinking_;  // made by the first flush()
  std::size_t records_ = 0;
  Run run_;
};

// The blocks of a run, one after the other.
class RunBlocks {
 public:
  RunBlocks(Part& part, Run run) : part_(&part), run_(std::move(run)) {}

  // Goes on to the next block; false at the end. Throws disk_error if the disk gives back something else
  // than was written: another attempt of the part may succeed.
  bool next();
  // Valid until the next call.
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t records() const { return run_.blocks[block_ - 1].records; }

 private:
  void read(const Run::Block& block, std::span<std::byte> into);

  Part* part_;
  Run run_;
  std::size_t block_ = 0;
  std::vector<std::byte> bytes_;
};

// Reads a run from its beginning.
template <class T, class Order>
class ReadRun {
 public:
  ReadRun(Part& part, Run run, const Order& order) : blocks_(part, std::move(run)), order_(&order) {
    advance();
  }

  bool done() const { return !value_; }
  // value() and prefix() are valid until advance().
  const T& value() const { return *value_; }
  std::span<const std::byte> record() const { return record_; }
  std::uint64_t prefix() const { return prefix_; }
  void advance() {
    if (left_ == 0 && !load()) return value_.reset();
    RecordReader reader(blocks_.bytes().subspan(at_));
    value_.emplace(decode<T>(reader));
    record_ = blocks_.bytes().subspan(at_, static_cast<std::size_t>(reader.at - reader.begin));
    at_ += record_.size();
    --left_;
    prefix_ = order_->prefix(*value_);
  }

 private:
  bool load() {
    if (!blocks_.next()) return false;
    at_ = 0;
    left_ = blocks_.records();
    return true;
  }

  RunBlocks blocks_;
  const Order* order_;
  std::size_t at_ = 0, left_ = 0;
  std::optional<T> value_;
  std::span<const std::byte> record_;
  std::uint64_t prefix_ = 0;
};

// Merges runs. Of equal records those of an earlier run come first. `order` must outlive this.
template <class T, class Order>
class MergedRuns {
 public:
  MergedRuns(Part& part, std::vector<Run> runs, const Order& order)
      : tree_(cursors_of(part, std::move(runs), order), Less{&order}) {}

  // The next record; null at the end. Valid until the next call.
  const T* next() {
    if (begun_) tree_.advance();
    begun_ = true;
    return tree_.empty() ? nullptr : &tree_.top().value();
  }
  // The prefix of the record that next() gave last.
  std::uint64_t prefix() const { return tree_.prefix(); }

 private:
  using Cursor = ReadRun<T, Order>;
  struct Less {
    const Order* order;
    bool operator()(std::span<const std::byte> a, std::span<const std::byte> b) const {
      if constexpr (Order::prefix_is_whole) return false;
      RecordReader x(a), y(b);
      return order->compare(decode<T>(x), decode<T>(y)) < 0;
    }
  };
  static std::vector<Cursor> cursors_of(Part& part, std::vector<Run> runs, const Order& order) {
    std::vector<Cursor> cursors;
    cursors.reserve(runs.size());
    for (auto& run : runs) cursors.emplace_back(part, std::move(run), order);
    return cursors;
  }

  LoserTree<Cursor, Less> tree_;
  bool begun_ = false;
};

template <class T, class Order>
Run merged_run(Part& part, std::vector<Run> runs, const Order& order) {
  MergedRuns<T, Order> records(part, std::move(runs), order);
  RunWriter writer(part);
  while (const T* record = records.next()) encode(*record, writer.append(encoded_size(*record)));
  return writer.finish();
}

// Merges neighbouring runs, as few as possible, until one block of each remaining run fits into the
// memory: then these can be merged at once.
template <class T, class Order>
std::vector<Run> fewer_runs(Part& part, std::vector<Run> runs, const Order& order,
                            std::size_t memory_bytes) {
  const std::size_t most = std::max<std::size_t>(2, memory_bytes / RunWriter::block_bytes);
  while (runs.size() > most) {
    std::vector<Run> fewer;
    for (auto first = runs.begin(); first != runs.end();) {
      const auto left = static_cast<std::size_t>(runs.end() - first);
      const std::size_t wanted = std::max(fewer.size() + left, most) - most + 1;
      const auto last = first + static_cast<std::ptrdiff_t>(std::min({wanted, left, most}));
      std::vector<Run> some(std::make_move_iterator(first), std::make_move_iterator(last));
      fewer.push_back(some.size() == 1 ? std::move(some[0])
                                       : merged_run<T>(part, std::move(some), order));
      first = last;
    }
    runs = std::move(fewer);
  }
  return runs;
}

}  // namespace actorflow
