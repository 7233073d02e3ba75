// What ranks contribute to sums, and what comes out.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "dataflow/values/tensor.h"
#include "kernels/products/bfloat16.h"

namespace actorflow::test {

// The contribution of a rank: floating-point numbers of very different sizes, whose sum depends on its
// order.
template <class T>
Tensor contribution(int rank, const Shape& shape, int salt = 0) {
  Tensor tensor = Tensor::allocate(dtype_of<T>, shape);
  std::uint64_t state =
      static_cast<std::uint64_t>(rank) * 7919 + static_cast<std::uint64_t>(salt) * 104729 + 1;
  for (auto& value : tensor.mutable_values<T>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto bits = static_cast<std::int32_t>(state >> 40) - (1 << 23);
    value = static_cast<T>(bits) * (state >> 63 ? T(1) : T(std::is_integral_v<T> ? 3 : 1e-3));
  }
  return tensor;
}

// ((x0 + x1) + x2) + ..., by a loop. `part`: what a rank contributes.
template <class T, class Part, class Op = std::plus<T>>
Tensor added_up(int ranks, Part part, Op op = {}) {
  Tensor sum = part(0);
  for (int rank = 1; rank < ranks; ++rank) {
    const Tensor more = part(rank);
    for (std::int64_t i = 0; i < sum.elements(); ++i) {
      T& element = sum.template mutable_values<T>()[static_cast<std::size_t>(i)];
      element = op(element, more.template values<T>()[static_cast<std::size_t>(i)]);
    }
  }
  return sum;
}

template <class T, class Op = std::plus<T>>
Tensor serial(int ranks, const Shape& shape, int salt = 0, Op op = {}) {
  return added_up<T>(
      ranks, [&](int rank) { return contribution<T>(rank, shape, salt); }, op);
}

// Of ranks in turn a large number, a tiny one, and the large one's negative: their sum is tiny, or 0
// where the tiny one is added to a large one.
inline float cancelling(std::int64_t turn) {
  constexpr float turns[] = {0x1p14F, 0x1p-20F, -0x1p14F};
  return turns[turn % 3];
}

// The contribution of a rank as numbers of 16 bits, none of them too large for float16. The sums of
// every other three depend on their order also when they have been rounded to 16 bits.
template <class T>
Tensor short_contribution(int rank, const Shape& shape) {
  const Tensor exact = contribution<float>(rank, shape);
  Tensor rounded = Tensor::allocate(dtype_of<T>, shape);
  for (std::int64_t i = 0; i < exact.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float mixed = exact.values<float>()[at] * 0x1p-10F;
    rounded.mutable_values<T>()[at] = T(i / 3 % 2 == 0 ? mixed : cancelling(i + rank));
  }
  return rounded;
}

// Their sum, multiplied by the factor and added in float32, and rounded once.
template <class T>
Tensor short_sum(int ranks, const Shape& shape, float factor = 1) {
  const Tensor sum = added_up<float>(ranks, [&](int rank) {
    const Tensor part = short_contribution<T>(rank, shape);
    Tensor wide = Tensor::allocate(DType::float32, shape);
    float* to = wide.mutable_values<float>().data();
    for (const T value : part.values<T>()) *to++ = value * factor;
    return wide;
  });
  Tensor rounded = Tensor::allocate(dtype_of<T>, shape);
  T* to = rounded.mutable_values<T>().data();
  for (const float value : sum.values<float>()) *to++ = T(value);
  return rounded;
}

// The same sum of numbers that travel as bfloat16: each rank's are rounded, and the sum once more.
inline Tensor rounded_serial(int ranks, const Shape& shape, int salt = 0) {
  const auto rounded = [](Tensor tensor) {
    for (float& value : tensor.mutable_values<float>()) {
      std::uint16_t upper = 0;
      round_to_bf16(&value, 1, &upper);
      value = std::bit_cast<float>(std::uint32_t{upper} << 16U);
    }
    return tensor;
  };
  return rounded(
      added_up<float>(ranks, [&](int rank) { return rounded(contribution<float>(rank, shape, salt)); }));
}

}  // namespace actorflow::test
