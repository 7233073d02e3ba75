// Updates of some rows of a variable, for elementwise_optimizer.h.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/loops/vectorised.h"
#include "kernels/update/state_change.h"

namespace actorflow::detail {

// A row of one of the gradients.
struct Part {
  std::int64_t row;     // of the variable
  std::int64_t order;   // in which rows add up
  std::int64_t source;  // which gradient it is of
  const std::byte* values;
};

// All rows of all gradients, by row; rows of one index in the order in which they add up.
std::vector<Part> sorted_parts(std::span<const SparseGradient> gradients, Device& device);
// The elements of a row of a tensor of this shape.
std::int64_t row_elements(const Shape& shape);

// The rows to be updated, in ascending order, each with the parts whose mean is its gradient.
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

// The groups as plain pointers, for loops on CPUs and GPUs.
template <class T>
struct GroupsView {
  const std::int64_t* rows;
  const std::int64_t* ends;
  const T* divisors;
  const T* const* parts;
  std::int64_t row_elements;

  ACTORFLOW_HOST_DEVICE std::int64_t begin(std::int64_t group) const {
    return group == 0 ? 0 : ends[group - 1];
  }
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

template <class T>
Tensor on_gpu(Device& device, const std::vector<T>& values) {
  return device.to_device(Tensor::of<T>({std::ssize(values)}, values));
}

// A GPU's addresses travel as integers.
template <class T>
Tensor addresses_on_gpu(Device& device, const std::vector<const T*>& pointers) {
  static_assert(sizeof(const T*) == sizeof(std::int64_t));
  Tensor tensor = Tensor::allocate(DType::int64, Shape{std::ssize(pointers)});
  std::memcpy(tensor.mutable_data(), pointers.data(), tensor.size_bytes());
  return device.to_device(tensor);
}

template <class T, class Rule, std::size_t... part>
void update_rows_on_cuda(Device& device, Rule rule, GroupsView<T> groups, std::int64_t count,
                         std::array<T*, sizeof...(part)> state, std::index_sequence<part...>) {
  launch(device, count * groups.row_elements, [=] __device__(std::int64_t i) {
    const std::int64_t group = i / groups.row_elements, j = i % groups.row_elements;
    std::int64_t k = groups.begin(group);
    T gradient = groups.parts[k][j];
    for (++k; k < groups.ends[group]; ++k) gradient += groups.parts[k][j];
    gradient /= groups.divisors[group];
    const std::int64_t place = groups.rows[group] * groups.row_elements + j;
    rule(gradient, state[part][place]...);
  });
}

template <class T, class Rule, std::size_t count, class Parts>
void update_groups_on_cuda(Device& device, const Rule& rule, const Groups<T>& groups,
                           std::int64_t elements, const std::array<T*, count>& state, Parts parts) {
  const Tensor rows = on_gpu(device, groups.rows), ends = on_gpu(device, groups.ends);
  const Tensor divisors = on_gpu(device, groups.divisors);
  const Tensor addresses = addresses_on_gpu(device, groups.parts);
  const GroupsView<T> view{
      static_cast<const std::int64_t*>(rows.data()), static_cast<const std::int64_t*>(ends.data()),
      static_cast<const T*>(divisors.data()), static_cast<const T* const*>(addresses.data()), elements};
  update_rows_on_cuda<T>(device, rule, view, groups.count(), state, parts);
}

#endif

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

// Each row is computed by itself: how the work is shared changes no bit.
template <class T, class Rule, class Parts, std::size_t count>
void update_groups([[maybe_unused]] Device& device, Team* team, const Rule& rule,
                   const Groups<T>& groups, const Shape& shape, const Places<T, count>& places,
                   Parts parts) {
  const std::int64_t row = row_elements(shape);
  std::array<T*, count> changed;
  for (std::size_t i = 0; i < count; ++i) changed[i] = carried_over(device, places[i], shape.elements());
#ifdef __CUDACC__
  if (device.type() == DeviceType::cuda)
    return update_groups_on_cuda<T>(device, rule, groups, row, changed, parts);
#endif
  const GroupsView<T> view{groups.rows.data(), groups.ends.data(), groups.divisors.data(),
                           groups.parts.data(), row};
  const auto shares = update_shares(groups.count(), std::ssize(groups.parts) * row);
  share_out(team, shares, [&](std::int64_t first, std::int64_t last) {
    update_rows_on_cpu<T>(rule, view, first, last, changed, parts);
  });
}

}  // namespace actorflow::detail
