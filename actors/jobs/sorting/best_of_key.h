// The first values of a key in an order, for top_by_key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "actors/jobs/sorting/record_order.h"

namespace actorflow {

// Folds values into a vector of the first `n` in their order; of equal ones those that came first.
template <class T, class KeyOf>
class BestOfKey {
 public:
  BestOfKey(std::size_t n, KeyOrder<T, KeyOf> order) : n_(n), order_(std::move(order)) {}

  // False if the value is none of the first.
  bool add(std::vector<T>& best, T value) const {
    if (best.size() == n_ && (n_ == 0 || !before(value, best.back()))) return false;
    if (best.size() == n_) best.pop_back();
    const auto place = std::ranges::upper_bound(best, value, less());
    best.insert(place, std::move(value));
    return true;
  }
  // `later`: of values that came after those of `best`.
  void merge(std::vector<T>& best, std::vector<T> later) const {
    for (T& value : later)
      if (!add(best, std::move(value))) return;  // nor are those behind it
  }

 private:
  bool before(const T& a, const T& b) const {
    const auto x = order_.prefix(a), y = order_.prefix(b);
    return x != y ? x < y : !KeyOrder<T, KeyOf>::prefix_is_whole && order_.compare(a, b) < 0;
  }
  auto less() const {
    return [this](const T& a, const T& b) { return before(a, b); };
  }

  std::size_t n_;
  KeyOrder<T, KeyOf> order_;
};

}  // namespace actorflow
