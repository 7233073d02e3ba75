// The best records, and some that are drawn by lot: what each part contributes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "schema/records/heap_bytes.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// The first `n` in an order; of equal ones those that were added first.
template <class T, class Order>
class Best {
 public:
  Best(std::size_t n, const Order& order) : n_(n), order_(order) {}

  // Whether it is one of the first so far.
  bool add(T record) {
    if constexpr (Order::compares_fast)
      if (is_full_ && order_.is_after(order_.key(record), last_key_)) return false;
    const std::uint64_t prefix = order_.prefix(record);
    return prefix <= last_prefix_ && insert({prefix, added_++, std::move(record)});
  }
  // The memory that it takes.
  std::size_t bytes() const { return heap_.capacity() * sizeof(Entry) + held_; }
  // In order.
  std::vector<T> take() {
    std::ranges::sort_heap(heap_, less());
    std::vector<T> records;
    for (auto& entry : heap_) records.push_back(std::move(entry.record));
    return records;
  }

 private:
  struct Entry {
    std::uint64_t prefix, added;
    T record;
  };
  [[gnu::noinline]] bool insert(Entry entry) {
    if (n_ == 0) return false;
    if (heap_.size() == n_) {
      if (!before(entry, heap_.front())) return false;
      std::ranges::pop_heap(heap_, less());
      held_ -= heap_bytes(heap_.back().record);
      heap_.pop_back();
    }
    held_ += heap_bytes(entry.record);
    heap_.push_back(std::move(entry));
    std::ranges::push_heap(heap_, less());
    if (heap_.size() == n_) note_last();
    return true;
  }
  void note_last() {
    is_full_ = true;
    last_prefix_ = heap_.front().prefix;
    if constexpr (Order::compares_fast) last_key_ = order_.key(heap_.front().record);
  }
  bool before(const Entry& a, const Entry& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = order_.compare(a.record, b.record);
    return order != 0 ? order < 0 : a.added < b.added;
  }
  auto less() const {
    return [this](const Entry& a, const Entry& b) { return before(a, b); };
  }

  const std::size_t n_;
  const Order order_;
  std::uint64_t added_ = 0;
  // Of the last one once there are n: what comes after it is none of the best.
  bool is_full_ = false;
  std::uint64_t last_prefix_ = ~std::uint64_t{0};
  [[no_unique_address]] std::conditional_t<Order::compares_fast, typename Order::Key, std::monostate>
      last_key_{};
  std::vector<Entry> heap_;                        // the last in order on top
  std::size_t held_ = 0;                           // by its records, besides themselves
};

// Scrambles a number (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
constexpr std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111eb;
  return x ^ (x >> 31U);
}

// Of the records of a part those with the `n` smallest numbers, which follow from the seed, the part and
// the record's place in it.
template <class T>
class Lottery {
 public:
  using Ticket = std::pair<std::uint64_t, StoredRecord<T>>;

  Lottery(std::size_t n, std::uint64_t seed, std::size_t part)
      : n_(n), salt_(scrambled(scrambled(seed) ^ part)) {}

  // Whether it is drawn so far.
  bool add(const T& record) {
    const std::uint64_t number = scrambled(salt_ ^ scrambled(added_++));
    if (n_ == 0 || (heap_.size() == n_ && number >= heap_.front().first)) return false;
    if (heap_.size() == n_) {
      std::ranges::pop_heap(heap_, {}, &Ticket::first);
      held_ -= heap_bytes(heap_.back().second);
      heap_.pop_back();
    }
    heap_.emplace_back(number, stored(record));
    held_ += heap_bytes(heap_.back().second);
    std::ranges::push_heap(heap_, {}, &Ticket::first);
    return true;
  }
  std::size_t bytes() const { return heap_.capacity() * sizeof(Ticket) + held_; }
  std::vector<Ticket> take() { return std::move(heap_); }

 private:
  const std::size_t n_;
  const std::uint64_t salt_;
  std::uint64_t added_ = 0;
  std::vector<Ticket> heap_;  // the largest number on top
  std::size_t held_ = 0;
};

// The `n` winners of all parts.
template <class T>
std::vector<T> drawn(std::vector<std::vector<std::pair<std::uint64_t, T>>> parts, std::size_t n) {
  std::vector<std::pair<std::uint64_t, T>> tickets;
  for (auto& part : parts) std::ranges::move(part, std::back_inserter(tickets));
  std::ranges::stable_sort(tickets, {}, [](const auto& ticket) { return ticket.first; });
  std::vector<T> winners;
  for (std::size_t i = 0; i < std::min(n, tickets.size()); ++i)
    winners.push_back(std::move(tickets[i].second));
  return winners;
}

}  // namespace actorflow
