#include "actors/collectives/engine/arithmetic.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "dataflow/values/check.h"
#include "kernels/devices/team.h"

namespace actorflow {
namespace {

// A share of a thread; within it, blocks that stay in the cache while part after part is added.
constexpr std::int64_t share_elements = std::int64_t{64} << 10;
constexpr std::int64_t most_shares = 16;
constexpr std::int64_t block_elements = 2048;

template <class Body>
void of_dtype(DType dtype, Body body) {
  switch (dtype) {
    case DType::float32:
      return body(float{});
    case DType::float64:
      return body(double{});
    case DType::int32:
      return body(std::int32_t{});
    case DType::int64:
      return body(std::int64_t{});
    default:
      ACTORFLOW_CHECK(false, "a dtype to calculate with");
  }
}

// Integers wrap around, as kernels' do.
template <class T, class Op>
T wrapping(T a, T b, Op op) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        op(static_cast<std::make_unsigned_t<T>>(a), static_cast<std::make_unsigned_t<T>>(b)));
  else
    return op(a, b);
}

template <class T, class Op>
void combine(T* out, const T* more, std::int64_t count, Op op) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(out[i], more[i]);
}

template <class T>
void combine(ReduceOp reduction, T* out, const T* more, std::int64_t count) {
  const auto is_nan = [](T value) { return value != value; };  // NOLINT: no integer is
  switch (reduction) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return combine(out, more, count, [](T a, T b) { return wrapping(a, b, std::plus<>{}); });
    case ReduceOp::product:
      return combine(out, more, count, [](T a, T b) { return wrapping(a, b, std::multiplies<>{}); });
    case ReduceOp::min:
      return combine(out, more, count, [&](T a, T b) { return b < a || is_nan(b) ? b : a; });
    case ReduceOp::max:
      return combine(out, more, count, [&](T a, T b) { return b > a || is_nan(b) ? b : a; });
  }
}

template <class T>
const T* elements(Bytes bytes) {
  return reinterpret_cast<const T*>(bytes.data());
}

template <class T>
void reduce(ReduceOp reduction, const std::vector<Bytes>& parts, T* out, std::int64_t begin,
            std::int64_t end) {
  std::array<T, block_elements> block;  // so that `out` may be any of the parts
  for (std::int64_t at = begin; at < end; at += block_elements) {
    const std::int64_t count = std::min(block_elements, end - at);
    std::copy_n(elements<T>(parts[0]) + at, count, block.data());
    for (std::size_t i = 1; i < parts.size(); ++i)
      combine(reduction, block.data(), elements<T>(parts[i]) + at, count);
    std::copy_n(block.data(), count, out + at);
  }
}

Shares shares_of(std::int64_t count) { return {count, count / share_elements, most_shares}; }

template <class T>
void scale(T* values, std::int64_t count, T factor, Team* team) {
  share_out(team, shares_of(count), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) values[i] *= factor;
  });
}

template <class T>
void divide(T* values, std::int64_t count, T by, Team* team) {
  share_out(team, shares_of(count), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) values[i] /= by;
  });
}

}  // namespace

void reduce_in_order(const CollectiveCall& call, const std::vector<Bytes>& parts,
                     std::span<std::byte> out, Team* team) {
  of_dtype(call.dtype, [&]<class T>(T) {
    const auto count = static_cast<std::int64_t>(out.size() / sizeof(T));
    auto* to = reinterpret_cast<T*>(out.data());
    share_out(team, shares_of(count), [&](std::int64_t begin, std::int64_t end) {
      reduce(call.reduction, parts, to, begin, end);
    });
  });
}

void finish_reduction(const CollectiveCall& call, int ranks, std::span<std::byte> values, Team* team) {
  of_dtype(call.dtype, [&]<class T>(T) {
    auto* of = reinterpret_cast<T*>(values.data());
    const auto count = static_cast<std::int64_t>(values.size() / sizeof(T));
    if (call.reduction == ReduceOp::average) divide(of, count, static_cast<T>(ranks), team);
    if (call.postscale != 1) scale(of, count, static_cast<T>(call.postscale), team);
  });
}

Tensor prescaled(const CollectiveCall& call, Tensor values, Allocator& allocator, Team* team) {
  if (call.prescale == 1) return values;
  Tensor scaled = values.clone(allocator);
  of_dtype(call.dtype, [&]<class T>(T) {
    scale(static_cast<T*>(scaled.mutable_data()), scaled.elements(), static_cast<T>(call.prescale),
          team);
  });
  return scaled;
}

}  // namespace actorflow
