// Sorting a collection: a sample says where its partitions begin, each of which is then sorted.
//
// Records with equal keys are divided too, by their place in the input (part, and how far in it), so
// that partitions are of about one size whatever the keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/sinks/sampling.h"
#include "actors/jobs/sinks/sinks.h"
#include "actors/jobs/sorting/record_order.h"
#include "actors/jobs/sorting/record_sorter.h"

namespace actorflow {

// Where a partition begins.
template <class Key>
struct Splitter {
  std::uint64_t prefix = 0;
  Key key;
  std::uint64_t part = 0, place = 0;
  double weight = 1;  // of so many records this one is from the sample
};

template <class Order>
class Splitters {
 public:
  using Key = StoredRecord<typename Order::Key>;

  Splitters(Order order, std::vector<Splitter<Key>> sample, std::size_t partitions)
      : order_(std::move(order)) {
    std::ranges::sort(sample, [this](const auto& a, const auto& b) { return compare(a, b) < 0; });
    double all = 0, passed = 0;
    for (const auto& each : sample) all += each.weight;
    for (const auto& each : sample) {
      passed += each.weight;
      while (begins_.size() + 1 < partitions &&
             passed * static_cast<double>(partitions) > all * static_cast<double>(begins_.size() + 1))
        begins_.push_back(each);
    }
  }

  // How many partitions begin at the record or before it.
  template <class T>
  std::size_t partition_of(const T& record, std::uint64_t part, std::uint64_t place) const {
    const std::uint64_t prefix = order_.prefix(record);
    std::size_t first = 0, count = begins_.size();
    while (count > 0) {
      const std::size_t half = count / 2;
      const auto& begin = begins_[first + half];
      if (begin.prefix != prefix ? begin.prefix < prefix : !is_before(record, part, place, begin)) {
        first += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return first;
  }

 private:
  template <class T>
  bool is_before(const T& record, std::uint64_t part, std::uint64_t place,
                 const Splitter<Key>& begin) const {
    const int order = Order::prefix_is_whole
                          ? 0
                          : order_.compare_keys(order_.key(record), typename Order::Key(begin.key));
    return order != 0 ? order < 0 : std::pair(part, place) < std::pair(begin.part, begin.place);
  }
  int compare(const Splitter<Key>& a, const Splitter<Key>& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
    using View = typename Order::Key;
    if (const int order = order_.compare_keys(View(a.key), View(b.key)); order != 0) return order;
    const auto x = std::pair(a.part, a.place), y = std::pair(b.part, b.place);
    return x < y ? -1 : y < x ? 1 : 0;
  }

  Order order_;
  std::vector<Splitter<Key>> begins_;
};

// What each record of a sample contributes to the splitters.
template <class Order>
class SplitterSample {
 public:
  using Sampled = std::tuple<StoredRecord<typename Order::Key>, std::uint64_t>;  // key, place

  SplitterSample(Part& part, const Order& order) : part_(part), order_(order) {}

  template <class T>
  Sampled operator()(const T& record) const {
    return {stored(typename Order::Key(order_.key(record))), part_.place()};
  }

 private:
  Part& part_;
  const Order& order_;
};

// Enough of the records of a pipe, whose source is prepared, to say where partitions begin.
template <class Pipe, class Order>
auto sample_splitters(JobContext& job, const Pipe& pipe, const Order& order, const PlanOperator& op) {
  std::vector<Splitter<StoredRecord<typename Order::Key>>> sample;
  std::uint64_t part = 0;
  for (auto& keys :
       sample_parts(job, pipe, op, [order](Part& from) { return SplitterSample<Order>(from, order); })) {
    for (auto& [key, place] : keys.taken) {
      const std::uint64_t prefix = order.prefix_of_key(typename Order::Key(key));
      sample.push_back({prefix, std::move(key), part, place, keys.weight});
    }
    ++part;
  }
  return sample;
}

// Divides records among the sorted partitions.
template <class T, class Order>
class RangeSink {
 public:
  RangeSink(Part& part, std::size_t index, std::size_t partitions, const Splitters<Order>& splitters)
      : part_(part), index_(index), splitters_(splitters), chunks_(part, partitions) {}

  void operator()(const T& record) {
    encode(record,
           chunks_.append(splitters_.partition_of(record, index_, part_.place()), encoded_size(record)));
  }
  void finish() { chunks_.finish(); }

 private:
  Part& part_;
  const std::size_t index_;
  const Splitters<Order>& splitters_;
  ChunkWriter chunks_;
};

template <class T, class Order>
struct SortedPipe : PartitionsSource {
  using Record = T;
  static constexpr bool is_cheap = false;

  Order order;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    RecordSorter<T, Order> sorter(part, part.memory_bytes() / 4 * 3, order);
    auto slices = SliceReader::of_partition(stage->dataset(), index);
    for (SliceReader::Slice slice; slices.next(slice);) {
      sorter.add(slice);
      part.has_read(slice.bytes.size(), slice.records);
    }
    while (const T* record = sorter.next()) part.feed([&] { next(T(*record)); });
  }
};

}  // namespace actorflow
