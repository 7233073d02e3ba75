#include "actors/collectives/operation/arithmetic.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "dataflow/values/check.h"
#include "kernels/devices/team.h"
#include "kernels/loops/streaming_copy.h"
#include "kernels/loops/vectorised.h"

namespace actorflow {
namespace {

// A share of a thread; within it, blocks that stay in the cache while part after part is added.
constexpr std::int64_t share_elements = std::int64_t{64} << 10;
constexpr std::int64_t most_shares = 16;
constexpr std::int64_t block_elements = 2048;

// What the numbers of a dtype are calculated as.
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
    case DType::float16:
      return body(Float16{});
    case DType::bfloat16:
      return body(BFloat16{});
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

// `out` may be `a`: each element depends on those of its own place only.
template <class T, class Op>
void combine(const T* a, const T* b, T* out, std::int64_t count, Op op) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i]);
  });
}

template <class T>
void combine(ReduceOp reduction, const T* a, const T* b, T* out, std::int64_t count) {
  const auto is_nan = [](T value) { return value != value; };  // NOLINT: no integer is
  switch (reduction) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return combine(a, b, out, count, [](T x, T y) { return wrapping(x, y, std::plus<>{}); });
    case ReduceOp::product:
      return combine(a, b, out, count, [](T x, T y) { return wrapping(x, y, std::multiplies<>{}); });
    case ReduceOp::min:
      return combine(a, b, out, count, [=](T x, T y) { return y < x || is_nan(y) ? y : x; });
    case ReduceOp::max:
      return combine(a, b, out, count, [=](T x, T y) { return y > x || is_nan(y) ? y : x; });
  }
}

template <class T>
void scale(T* values, std::int64_t count, double factor) {
  if (factor == 1) return;
  using Value = std::conditional_t<is_short_float<T>, float, T>;
  vectorised([=, by = static_cast<Value>(factor)] {
    for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(values[i] * by);
  });
}

template <class T>
void finish(const CollectiveCall& call, int ranks, T* values, std::int64_t count) {
  if (call.reduction == ReduceOp::average)
    vectorised([=, by = static_cast<T>(ranks)] {
      for (std::int64_t i = 0; i < count; ++i) values[i] /= by;
    });
  scale(values, count, call.postscale);
}

template <class From, class To>
void convert(const From* from, std::int64_t count, To* to) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  });
}

// How numbers travel: as they are, or as 16 bits, of which sums are made in float32. What is read is
// multiplied by the factor; others were when they were sent.
template <class T>
struct Plain {
  using Value = T;
  using Stored = T;
  static const T* read(const T* from, std::int64_t, double, T*) { return from; }
  static T* room(T* to, T*) { return to; }
  static void write(const T*, std::int64_t, T*) {}  // it is there
};
template <class T>
struct Rounded {
  using Value = float;
  using Stored = T;
  static const float* read(const T* from, std::int64_t count, double factor, float* memory) {
    convert(from, count, memory);
    scale(memory, count, factor);
    return memory;
  }
  static float* room(T*, float* memory) { return memory; }
  static void write(const float* from, std::int64_t count, T* to) { convert(from, count, to); }
};
using Compressed = Rounded<BFloat16>;

// Numbers of 16 bits would be rounded by it once more: they are multiplied in float32 when they are
// read.
bool is_scaled_when_read(const CollectiveCall& call) {
  const bool reduces =
      call.kind == CollectiveKind::all_reduce || call.kind == CollectiveKind::reduce_scatter;
  return reduces && is_short_floating(call.dtype);
}

template <class Form>
const typename Form::Stored* elements(Bytes bytes) {
  return reinterpret_cast<const typename Form::Stored*>(bytes.data());
}

// An unfinished sum is of the values that are calculated with, wherever it lies. `streams`: a complete
// one is written past the cache.
template <class Form>
void reduce(const CollectiveCall& call, std::span<const Bytes> parts, SumStage stage, std::byte* out,
            std::int64_t begin, std::int64_t end, bool streams) {
  using T = typename Form::Value;
  using Stored = typename Form::Stored;
  auto* const complete = stage.ranks > 0 ? reinterpret_cast<Stored*>(out) : nullptr;
  const double factor = is_scaled_when_read(call) ? call.prescale : 1;
  std::array<T, block_elements> first_memory, next_memory, sum_memory;  // where a form needs them
  std::array<Stored, block_elements> stored_memory;
  for (std::int64_t at = begin; at < end; at += block_elements) {
    const std::int64_t count = std::min(block_elements, end - at);
    const auto part = [&](std::size_t i, T* memory) -> const T* {
      if (i == 0 && stage.continues) return reinterpret_cast<const T*>(parts[0].data()) + at;
      return Form::read(elements<Form>(parts[i]) + at, count, factor, memory);
    };
    Stored* const stored = streams ? stored_memory.data() : complete + at;
    T* const sum = complete ? Form::room(stored, sum_memory.data()) : reinterpret_cast<T*>(out) + at;
    const T* first = part(0, first_memory.data());
    if (parts.size() == 1) std::copy_n(first, count, sum);
    for (std::size_t i = 1; i < parts.size(); ++i, first = sum)
      combine(call.reduction, first, part(i, next_memory.data()), sum, count);
    if (!complete) continue;
    finish(call, stage.ranks, sum, count);
    Form::write(sum, count, stored);
    if (streams)
      streaming_copy(reinterpret_cast<std::byte*>(complete + at),
                     reinterpret_cast<const std::byte*>(stored),
                     static_cast<std::size_t>(count) * sizeof(Stored));
  }
  if (streams) finish_streaming();
}

template <class Body>
void in_form(const CollectiveCall& call, Body body) {
  if (call.compression == ReduceCompression::bfloat16) return body(Compressed{});
  of_dtype(call.dtype, [&]<class T>(T) {
    if constexpr (is_short_float<T>)
      body(Rounded<T>{});
    else
      body(Plain<T>{});
  });
}

// Calls body(begin, end) for shares of so many elements.
template <class Body>
void in_shares(Team* team, std::int64_t count, Body body) {
  share_out(team, Shares(count, count / share_elements, most_shares), body);
}

}  // namespace

std::size_t unfinished_bytes(const CollectiveCall& call) {
  return call.rounds_sums() ? sizeof(float) : call.element_bytes();
}

Tensor outgoing(const CollectiveCall& call, Tensor values, Allocator& allocator, Team* team) {
  const std::int64_t count = values.elements();
  if (call.prescale != 1 && !is_scaled_when_read(call)) {
    Tensor scaled = values.clone(allocator);
    of_dtype(call.dtype, [&]<class T>(T) {
      T* const all = static_cast<T*>(scaled.mutable_data());
      in_shares(team, count, [&](std::int64_t begin, std::int64_t end) {
        scale(all + begin, end - begin, call.prescale);
      });
    });
    values = std::move(scaled);
  }
  if (call.compression == ReduceCompression::none) return values;
  Tensor rounded = Tensor::allocate(
      DType::uint8, {count * static_cast<std::int64_t>(call.element_bytes())}, allocator);
  const auto* from = static_cast<const float*>(values.data());
  auto* to = static_cast<Compressed::Stored*>(rounded.mutable_data());
  in_shares(team, count, [&](std::int64_t begin, std::int64_t end) {
    convert(from + begin, end - begin, to + begin);
  });
  return rounded;
}

void reduce_in_order(const CollectiveCall& call, std::span<const Bytes> parts, SumStage stage,
                     std::span<std::byte> out, Team* team) {
  in_form(call, [&]<class Form>(Form) {
    const std::size_t element =
        stage.ranks > 0 ? sizeof(typename Form::Stored) : sizeof(typename Form::Value);
    const bool streams = stage.ranks > 0 && out.size() >= least_streamed_bytes;
    in_shares(team, static_cast<std::int64_t>(out.size() / element),
              [&](std::int64_t begin, std::int64_t end) {
                reduce<Form>(call, parts, stage, out.data(), begin, end, streams);
              });
  });
}

void expand(Bytes compressed, std::span<std::byte> out, Team* team) {
  const auto* from = elements<Compressed>(compressed);
  auto* to = reinterpret_cast<float*>(out.data());
  in_shares(
      team, static_cast<std::int64_t>(compressed.size() / sizeof(Compressed::Stored)),
      [&](std::int64_t begin, std::int64_t end) { convert(from + begin, end - begin, to + begin); });
}

}  // namespace actorflow
