// Updates of some rows of a variable, for elementwise_optimizer.h.
#pragma once

#include <algorithm>

#include "kernels/loops/vectorised.h"
#include "kernels/update/state_change.h"

namespace actorflow::detail {

// A row of one of the gradients, on a CPU.
struct Part {
  std::int64_t row;     // of the variable
  std::int64_t order;   // in which rows add up
  std::int64_t source;  // which gradient it is of
  const std::byte* values;
};

// All rows of all gradients, by row; rows of one index in the order in which they add up.
std::vector<Part> sorted_parts(std::span<const SparseGradient> gradients);
// The elements of a row of a tensor of this shape.
std::int64_t row_elements(const Shape& shape);

// On a CPU: the rows to be updated, in ascending order, each with the parts whose mean is its gradient.
template <class T>
struct Groups {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> ends;  // of each row's parts
  std::vector<T> divisors;
  std::vector<const T*> parts;

  explicit Groups(const std::vector<Part>& sorted) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const Part& part = sorted[i];
      if (i == 0 || part.row != sorted[i - 1].row) {
        rows.push_back(part.row);
        ends.push_back(ends.empty() ? 0 : ends.back());
        divisors.push_back(1);
      } else if (part.source != sorted[i - 1].source) {
        divisors.back() += 1;
      }
      parts.push_back(reinterpret_cast<const T*>(part.values));
      ++ends.back();
    }
  }

  std::int64_t count() const { return std::ssize(rows); }
};

// The groups as plain pointers.
template <class T>
struct GroupsView {
  const std::int64_t* rows;
  const std::int64_t* ends;
  const T* divisors;
  const T* const* parts;
  std::int64_t row_elements;

  std::int64_t begin(std::int64_t group) const { return group == 0 ? 0 : ends[group - 1]; }
};

// The number of elements of a row that are summed and applied at a time. Their sums lie on the stack,
// since an update that has begun to change rows in place must not run out of memory.
constexpr std::int64_t elements_at_a_time = 1024;

// Elements of the gradient of one row, from `first` on: its only part as it is, or the mean of the parts
// in `sum`.
template <class T>
const T* row_gradient(const GroupsView<T>& groups, std::int64_t group, std::int64_t first,
                      std::int64_t count, T* sum) {
  const std::int64_t begin = groups.begin(group), end = groups.ends[group];
  if (end == begin + 1) return groups.parts[begin] + first;
  const T divisor = groups.divisors[group];
  for (std::int64_t j = 0; j < count; ++j) sum[j] = groups.parts[begin][first + j];
  for (std::int64_t part = begin + 1; part < end; ++part) {
    const T* values = groups.parts[part] + first;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < count; ++j) sum[j] += values[j];
  }
  for (std::int64_t j = 0; j < count; ++j) sum[j] /= divisor;
  return sum;
}

template <class T, class Rule, std::size_t... part>
void update_row_on_cpu(Rule rule, const GroupsView<T>& groups, std::int64_t group,
                       const std::array<T*, sizeof...(part)>& state, std::index_sequence<part...>) {
  T sum[elements_at_a_time];
  for (std::int64_t first = 0; first < groups.row_elements; first += elements_at_a_time) {
    const std::int64_t count = std::min(elements_at_a_time, groups.row_elements - first);
    const T* gradient = row_gradient(groups, group, first, count, sum);
    const std::int64_t begin = groups.rows[group] * groups.row_elements + first;
    T* const rows[] = {state[part] + begin...};
#pragma GCC ivdep
    for (std::int64_t j = 0; j < count; ++j) {
      T values[] = {rows[part][j]...};
      rule(gradient[j], values[part]...);
      ((rows[part][j] = values[part]), ...);
    }
  }
}

template <class T, class Rule, class Parts, std::size_t count>
void update_rows_on_cpu(Rule rule, GroupsView<T> groups, std::int64_t first, std::int64_t last,
                        std::array<T*, count> state, Parts parts) {
  vectorised([=] {
    for (std::int64_t group = first; group < last; ++group)
      update_row_on_cpu(rule, groups, group, state, parts);
  });
}

#ifdef __CUDACC__

// Element j of the gradient of the row whose parts are from `begin` to `end`: their mean, added up in
// their order. Some values are on their way from memory at a time.
template <class T>
__device__ T mean_of_run(const RowPart* parts, std::int64_t begin, std::int64_t end, std::int64_t j) {
  constexpr int at_a_time = 16;
  const auto value = [=](std::int64_t k) { return reinterpret_cast<const T*>(parts[k].values)[j]; };
  T sum = value(begin);
  std::int64_t k = begin + 1;
  for (; k + at_a_time <= end; k += at_a_time) {
    T values[at_a_time];
#pragma unroll
    for (int i = 0; i < at_a_time; ++i) values[i] = value(k + i);
#pragma unroll
    for (int i = 0; i < at_a_time; ++i) sum += values[i];
  }
  for (; k < end; ++k) sum += value(k);
  T gradients = 1;
  if (parts[begin].source != parts[end - 1].source)
    for (k = begin + 1; k < end; ++k) gradients += parts[k].source != parts[k - 1].source ? T(1) : T(0);
  return sum / gradients;
}

// A thread for each element of each part; that of a row's first part computes the row's element.
template <class T, class Rule, std::size_t... part>
void update_rows_on_cuda(Device& device, const Rule& rule, const SortedRowsView& sorted,
                         std::int64_t row_elements, const std::array<T*, sizeof...(part)>& state,
                         std::index_sequence<part...>) {
  launch(device, sorted.count * row_elements, [=] __device__(std::int64_t i) {
    const std::int64_t begin = i / row_elements, j = i % row_elements;
    if (!sorted.begins_run(begin)) return;
    const T gradient = mean_of_run<T>(sorted.parts, begin, sorted.end_of_run(begin), j);
    const std::int64_t place = static_cast<std::int64_t>(sorted.rows[begin]) * row_elements + j;
    rule(gradient, state[part][place]...);
  });
}

#endif

inline namespace ACTORFLOW_UPDATE_NAMESPACE {

// Where the new state has memory of its own, fills it with the old values: rows without a gradient keep
// them.
template <class T>
T* carried_over([[maybe_unused]] Device& device, Place<T> place, std::int64_t elements) {
  if (place.from == place.to) return place.to;
#ifdef __CUDACC__
  if (device.type() == DeviceType::cuda) {
    launch(device, elements, [=] __device__(std::int64_t i) { place.to[i] = place.from[i]; });
    return place.to;
  }
#endif
  std::copy_n(place.from, elements, place.to);
  return place.to;
}

template <class T, std::size_t count>
std::array<T*, count> all_carried_over(Device& device, const Places<T, count>& places,
                                       std::int64_t elements) {
  std::array<T*, count> changed;
  for (std::size_t i = 0; i < count; ++i) changed[i] = carried_over(device, places[i], elements);
  return changed;
}

// Each row is computed by itself: how the work is shared changes no bit.
template <class T, class Rule, class Parts, std::size_t count>
void update_rows(Device& device, Team* team, const Rule& rule, std::span<const SparseGradient> gradients,
                 const Shape& shape, const Places<T, count>& places, Parts parts) {
  const std::int64_t row = row_elements(shape);
#ifdef __CUDACC__
  if (device.type() == DeviceType::cuda) {
    const SortedRows sorted = sorted_rows(gradients, shape[0], device);
    const auto changed = all_carried_over(device, places, shape.elements());
    return update_rows_on_cuda<T>(device, rule, sorted.view(), row, changed, parts);
  }
#endif
  const Groups<T> groups(sorted_parts(gradients));
  const GroupsView<T> view{groups.rows.data(), groups.ends.data(), groups.divisors.data(),
                           groups.parts.data(), row};
  const auto changed = all_carried_over(device, places, shape.elements());
  const auto shares = update_shares(groups.count(), std::ssize(groups.parts) * row);
  share_out(team, shares, [&](std::int64_t first, std::int64_t last) {
    update_rows_on_cpu<T>(rule, view, first, last, changed, parts);
  });
}

}  // namespace ACTORFLOW_UPDATE_NAMESPACE
}  // namespace actorflow::detail
