// Sorts a partition's records, in memory as far as they fit, else by runs on disk that are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/jobs/engine/parts/part.h"
#include "actors/jobs/sorting/runs.h"
#include "kernels/shuffle/key_sort.h"
#include "schema/records/record_codec.h"

namespace actorflow {

// Stable: equal records keep the order in which they were added.
template <class T, class Order>
class RecordSorter {
 public:
  RecordSorter(Part& part, std::size_t memory_bytes, Order order)
      : part_(part), order_(std::move(order)), memory_bytes_(memory_bytes) {
    entries_.reserve(memory_bytes_ / sizeof(SortEntry));  // takes memory as it is used
  }

  // A slice in memory must stay there until the end.
  void add(const SliceReader::Slice& slice) {
    std::span<const std::byte> bytes = slice.bytes;
    if (!slice.in_memory) {
      if (used_bytes() + bytes.size() > memory_bytes_ && !entries_.empty()) put_run_aside();
      copies_.emplace_back(bytes.begin(), bytes.end());
      copied_bytes_ += bytes.size();
      bytes = copies_.back();
    }
    slices_.push_back(bytes);
    RecordReader reader(bytes);
    for (std::uint64_t i = 0; i < slice.records; ++i) add_next(reader, bytes.data());
  }

  // The records in order; null at the end. Valid until the next call. After the first call nothing may
  // be added.
  const T* next() {
    if (!begun_) begin();
    if (merged_) return merged_->next();
    if (next_ == entries_.size()) return nullptr;
    if (next_ + ahead < entries_.size()) __builtin_prefetch(bytes_of(entries_[next_ + ahead]));
    current_.emplace(record_of(entries_[next_]));
    prefix_ = entries_[next_++].prefix;
    return &*current_;
  }
  // The prefix of the record that next() gave last.
  std::uint64_t prefix() const { return merged_ ? merged_->prefix() : prefix_; }
  const Order& order() const { return order_; }

 private:
  static constexpr std::size_t ahead = 8;
  static constexpr int offset_bits = 36;  // of a place: the slice above, the offset in it below

  std::size_t used_bytes() const { return copied_bytes_ + entries_.size() * sizeof(SortEntry); }

  void add_next(RecordReader& reader, const std::byte* begin) {
    if (entries_.size() == entries_.capacity()) put_run_aside();
    const auto offset = static_cast<std::uint64_t>(reader.at - begin);
    const std::uint64_t slice = slices_.size() - 1;
    entries_.push_back({order_.prefix(decode<T>(reader)), slice << offset_bits | offset});
  }
  const std::byte* bytes_of(const SortEntry& entry) const {
    return slices_[entry.index >> offset_bits].data() +
           (entry.index & ((std::uint64_t{1} << offset_bits) - 1));
  }
  T record_of(const SortEntry& entry) const {
    const auto& slice = slices_[entry.index >> offset_bits];
    RecordReader reader{bytes_of(entry), slice.data() + slice.size()};
    return decode<T>(reader);
  }

  int compare(const SortEntry& a, const SortEntry& b) const {
    return order_.compare(record_of(a), record_of(b));
  }
  void sort() {
    if constexpr (Order::prefix_is_whole)
      sort_entries(std::span(entries_));
    else if constexpr (requires(const T& record) { order_.second_prefix(record); })
      sort_twice();
    else
      sort_by_comparing(entries_);
  }
  void sort_by_comparing(std::span<SortEntry> entries) const {
    sort_entries(entries, [this](const SortEntry& a, const SortEntry& b) { return compare(a, b); });
  }
  // Where prefixes are equal by a second prefix: records are read once for it, instead of each time that
  // two are compared.
  void sort_twice() {
    sort_entries(std::span(entries_));
    for (std::size_t first = 0, last; first < entries_.size(); first = last) {
      for (last = first + 1; last < entries_.size() && entries_[last].prefix == entries_[first].prefix;)
        ++last;
      if (last - first > 1) sort_by_second_prefix(std::span(entries_).subspan(first, last - first));
    }
  }
  // `entries` have one prefix, but not all of them one key if two keys have one hash.
  void sort_by_second_prefix(std::span<SortEntry> entries) const {
    const std::uint64_t prefix = entries[0].prefix;
    bool of_one_key = true;
    for (const T first = record_of(entries[0]); auto& entry : entries) {
      const T record = record_of(entry);
      of_one_key = of_one_key && order_.compare_keys(record.first, first.first) == 0;
      entry.prefix = order_.second_prefix(record);
    }
    if (of_one_key && Order::second_prefix_is_whole)
      sort_entries(entries);
    else if (of_one_key)
      sort_by_comparing(entries);
    for (auto& entry : entries) entry.prefix = prefix;
    if (!of_one_key) sort_by_comparing(entries);
  }

  // Puts the entries so far aside as a run. Keeps the copy of the slice that is being added.
  void put_run_aside() {
    sort();
    RunWriter writer(part_);
    for (const auto& entry : entries_) {
      const T record = record_of(entry);
      encode(record, writer.append(encoded_size(record)));
    }
    runs_.push_back(writer.finish());
    entries_.clear();
    while (copies_.size() > 1) {
      copied_bytes_ -= copies_.front().size();
      copies_.pop_front();
    }
  }

  void begin() {
    begun_ = true;
    if (runs_.empty()) return sort();
    put_run_aside();
    entries_ = {};
    copies_.clear();
    merged_.emplace(part_, fewer_runs<T>(part_, std::move(runs_), order_, memory_bytes_ / 2), order_);
  }

  Part& part_;
  const Order order_;
  const std::size_t memory_bytes_;
  std::vector<SortEntry> entries_;
  std::vector<std::span<const std::byte>> slices_;
  std::deque<std::vector<std::byte>> copies_;  // of slices that were on disk
  std::size_t copied_bytes_ = 0;
  std::vector<Run> runs_;
  bool begun_ = false;
  std::size_t next_ = 0;
  std::optional<T> current_;
  std::uint64_t prefix_ = 0;
  std::optional<MergedRuns<T, Order>> merged_;
};

}  // namespace actorflow
