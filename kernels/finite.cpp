#include "kernels/finite.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/vectorised.h"

namespace actorflow {
namespace {

constexpr std::size_t share_elements = std::size_t{1} << 16;

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
  const auto shares = static_cast<int>((values.size() + share_elements - 1) / share_elements);
  std::atomic<std::int64_t> total = 0;
  const auto count_share = [&](int share) {
    const std::size_t begin = static_cast<std::size_t>(share) * share_elements;
    total += count(values.subspan(begin, std::min(share_elements, values.size() - begin)));
  };
  if (team && shares > 1)
    team->run(shares, count_share);
  else
    for (int share = 0; share < shares; ++share) count_share(share);
  return total;
}

}  // namespace

std::int64_t count_not_finite(const Tensor& tensor, Team* team) {
  if (tensor.dtype() == DType::float32) return count(tensor.values<float>(), team);
  if (tensor.dtype() == DType::float64) return count(tensor.values<double>(), team);
  return 0;
}

}  // namespace actorflow
