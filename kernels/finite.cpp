#include "kernels/finite.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "dataflow/check.h"
#include "kernels/vectorised.h"

namespace actorflow {
namespace {

// Without a branch and in 32 bits, so that it is vectorised.
template <class T>
std::int64_t count(std::span<const T> values) {
  std::int32_t not_finite = 0;
  vectorised([data = values.data(), size = values.size(), result = &not_finite] {
    std::int32_t bad = 0;
    for (std::size_t i = 0; i < size; ++i) bad += !(std::abs(data[i]) <= std::numeric_limits<T>::max());
    *result = bad;
  });
  return not_finite;
}

template <class T>
std::int64_t count(std::span<const T> values, Team* team) {
  constexpr std::int64_t elements_per_share = 1 << 16;
  // No limit: a share must not have more elements than the 32 bits can count.
  const std::int64_t wanted = (std::ssize(values) + elements_per_share - 1) / elements_per_share;
  const Shares shares(std::ssize(values), wanted, std::numeric_limits<int>::max());
  std::atomic<std::int64_t> total = 0;
  share_out(team, shares, [&](std::int64_t begin, std::int64_t end) {
    total +=
        count(values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  });
  return total;
}

}  // namespace

std::int64_t count_not_finite(const Tensor& tensor, Team* team) {
  ACTORFLOW_CHECK(tensor.on_host(), tensor.describe());
  if (tensor.dtype() == DType::float32) return count(tensor.values<float>(), team);
  if (tensor.dtype() == DType::float64) return count(tensor.values<double>(), team);
  return 0;
}

}  // namespace actorflow
