// Elementwise ops from functors: shape functions and kernels for unary.cu, binary.cu and compare.cu.
//
// A functor F has a `T operator()(T...) const` marked ACTORFLOW_HOST_DEVICE for every T of its DTypes;
// it computes one element, and the CPU's loops and the GPU's kernel both call it. The loops have neither
// branches nor unknown strides, so that the compiler vectorises them; vectorised.h chooses how wide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "dataflow/graph/graph.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/strided.h"
#include "kernels/loops/vectorised.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#include "kernels/loops/strided_packs.h"
#endif

namespace actorflow {

// The shape to which all inputs from `first` on broadcast; fails with an error of the node if there is
// none.
template <class Context>
Shape broadcast_inputs(const Context& c, const auto& shape_of_input, int first = 0) {
  Shape shape = shape_of_input(first);
  try {
    for (int i = first + 1; i < c.inputs(); ++i) shape = broadcast(shape, shape_of_input(i));
  } catch (const Error& error) {
    c.fail("inputs that broadcast to one shape", std::string("an error: ") + error.what());
  }
  return shape;
}
inline Shape broadcast_inputs(const InferContext& c, int first = 0) {
  return broadcast_inputs(
      c, [&c](int i) { return c.input(i).shape; }, first);
}
inline Shape broadcast_inputs(const OpContext& c, int first = 0) {
  return broadcast_inputs(
      c, [&c](int i) { return c.input(i).shape(); }, first);
}

template <class Types>
void infer_unary(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

template <class Types>
void infer_binary(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  c.expect_same_dtype();
  c.add_output(c.input(0).dtype, broadcast_inputs(c));
}

// In these loops the output may be the memory of an input: then iteration i reads and writes element i
// only, so no iteration depends on another.

// In place, a function with much arithmetic on memory far larger than every cache has too few cache
// lines in flight, so the loop prefetches the next page (tanh of 64 MiB on an Intel Xeon with AMX: 2.7
// times as fast, and nothing lost elsewhere; not in place, prefetching would cost a third).
template <class F, class T, class R>
void unary_loop(F f, std::int64_t count, const T* x, R* out) {
  constexpr std::int64_t uncached = std::int64_t{2} << 20, page = 4096 / sizeof(T),
                         line = 64 / sizeof(T);
  const bool in_place = static_cast<const void*>(x) == out;
  const std::int64_t block = in_place && count >= uncached ? page : count;
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t last = std::min(count, first + block), next = std::min(count, last + block);
    for (std::int64_t i = last; i < next; i += line) __builtin_prefetch(x + i);
    vectorised([=] {
#pragma GCC ivdep
      for (std::int64_t i = first; i < last; ++i) out[i] = f(x[i]);
    });
  }
}

// A loop over two inputs, each with a stride of 0 or 1.
template <class F, class T, class R>
void binary_loop(F f, std::int64_t count, const T* a, std::int64_t stride_a, const T* b,
                 std::int64_t stride_b, R* out) {
  if (stride_a == 0)
    unary_loop([f, value = *a](T x) { return f(value, x); }, count, b, out);
  else if (stride_b == 0)
    unary_loop([f, value = *b](T x) { return f(x, value); }, count, a, out);
  else
    vectorised([=] {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
    });
}

#ifdef ACTORFLOW_CUDA

// Neighbouring elements that a GPU thread reads or writes with one instruction.
template <class T, int width>
struct alignas(sizeof(T) * width) Packed {
  T elements[width];
};

// The number of elements of the wider type in 16 bytes, the most that one instruction moves.
template <class T, class R>
inline constexpr int packed_width = 16 / (sizeof(T) > sizeof(R) ? sizeof(T) : sizeof(R));

// out = f of the inputs, element by element. The first turns compute `width` elements each; the turns
// for the remainder compute one each.
template <class F, class T, class R, int inputs>
struct PackedBody {
  static constexpr int width = packed_width<T, R>;
  F f;
  const T* x[inputs];
  R* out;
  std::int64_t packs = 0;

  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    compute(i, std::make_integer_sequence<int, inputs>());
  }

 private:
  template <int... input>
  ACTORFLOW_HOST_DEVICE void compute(std::int64_t i, std::integer_sequence<int, input...>) const {
    if (i >= packs) {
      const std::int64_t rest = packs * (width - 1) + i;
      out[rest] = f(x[input][rest]...);
      return;
    }
    const Packed<T, width> from[] = {reinterpret_cast<const Packed<T, width>*>(x[input])[i]...};
    Packed<R, width> to;
    for (int j = 0; j < width; ++j) to.elements[j] = f(from[input].elements[j]...);
    reinterpret_cast<Packed<R, width>*>(out)[i] = to;
  }
};

// out = f of two inputs that broadcast. Each turn of the loops computes n neighbouring elements.
template <class F, class T, class R, int n>
struct BinaryBody {
  F f;
  StridedLoops<2> loops;
  const T* x[2];
  R* out;

  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const auto offsets = offsets_at(loops, i);
    const Packed<T, n> a = load(0, offsets.of[0]), b = load(1, offsets.of[1]);
    Packed<R, n> to;
    for (int j = 0; j < n; ++j) to.elements[j] = f(a.elements[j], b.elements[j]);
    reinterpret_cast<Packed<R, n>*>(out)[i] = to;
  }

 private:
  ACTORFLOW_HOST_DEVICE Packed<T, n> load(int input, std::int64_t offset) const {
    const T* from = x[input] + offset;
    Packed<T, n> pack;
    if (loops.strides[input][loops.rank - 1] != 0)
      pack = *reinterpret_cast<const Packed<T, n>*>(from);
    else
      for (int j = 0; j < n; ++j) pack.elements[j] = *from;
    return pack;
  }
};

template <class F, int n, class T, class R>
void launch_broadcast(Device& device, const StridedLoops<2>& loops, const T* a, const T* b, R* out) {
  const auto packs = loops_over_packs(loops, n);
  launch(device, packs.elements, BinaryBody<F, T, R, n>{{}, packs, {a, b}, out});
}

template <class F, class T, class R>
void broadcast_on_cuda(Device& device, const StridedLoops<2>& loops, const T* a, const T* b, R* out) {
  constexpr int width = packed_width<T, R>;
  const auto place = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) / sizeof(T); };
  const bool packs = reinterpret_cast<std::uintptr_t>(out) % (width * sizeof(R)) == 0 &&
                     turns_in_packs(loops, width, {place(a), place(b)});
  packs ? launch_broadcast<F, width>(device, loops, a, b, out)
        : launch_broadcast<F, 1>(device, loops, a, b, out);
}

// Launches the body, with packs if all tensors are aligned to 16 bytes; a tensor within a buffer may not
// be.
template <class F, class T, class R, int inputs>
void launch_packs(Device& device, std::int64_t count, PackedBody<F, T, R, inputs> body) {
  const auto is_aligned = [](const void* place) {
    return reinterpret_cast<std::uintptr_t>(place) % 16 == 0;
  };
  if (is_aligned(body.out) && std::ranges::all_of(body.x, is_aligned)) body.packs = count / body.width;
  launch(device, count - body.packs * (body.width - 1), body);
}

#endif

template <class F, class T, class R>
void run_unary(Device& device, std::int64_t count, const T* x, R* out) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return launch_packs(device, count, PackedBody<F, T, R, 1>{{}, {x}, out});
#endif
  if (device.type() == DeviceType::cpu) unary_loop(F(), count, x, out);
}

template <class F, class T, class R>
void run_binary(Device& device, const StridedLoops<2>& loops, const T* a, const T* b, R* out) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda && loops.contiguous())
    return launch_packs(device, loops.elements, PackedBody<F, T, R, 2>{{}, {a, b}, out});
  if (device.type() == DeviceType::cuda) return broadcast_on_cuda<F>(device, loops, a, b, out);
#endif
  if (device.type() == DeviceType::cpu)
    loops.for_each_row([&](std::int64_t first, const auto& offsets) {
      binary_loop(F(), loops.row_length(), a + offsets[0], loops.row_stride(0), b + offsets[1],
                  loops.row_stride(1), out + first);
    });
}

// The kernel of a unary op; works in place if the input has no other holder.
template <class F, class Types>
void unary(OpContext& c) {
  dispatch<Types>(c, c.input(0), [&]<class T>() {
    using R = decltype(F()(T()));
    Tensor& out = c.forward_or_allocate(0, 0, dtype_of<R>, c.input(0).shape());
    run_unary<F>(c.device(), out.elements(), static_cast<const T*>(c.input(0).data()),
                 static_cast<R*>(out.mutable_data()));
  });
}

// The kernel of a binary op: broadcasts both inputs, of which F gets number `left` first.
template <class F, class Types, int left = 0>
void binary(OpContext& c) {
  const Tensor &a = c.input(left), &b = c.input(1 - left);
  if (a.dtype() != b.dtype())
    c.fail("inputs of one dtype", c.input(0).describe() + " and " + c.input(1).describe());
  const Shape shape = broadcast_inputs(c);
  dispatch<Types>(c, a, [&]<class T>() {
    using R = decltype(F()(T(), T()));
    const int reusable = a.shape() == shape && a.exclusive() ? left : 1 - left;
    Tensor& out = c.forward_or_allocate(reusable, 0, dtype_of<R>, shape);
    run_binary<F>(c.device(), broadcast_loops<2>(shape, {a.shape(), b.shape()}),
                  static_cast<const T*>(a.data()), static_cast<const T*>(b.data()),
                  static_cast<R*>(out.mutable_data()));
  });
}

}  // namespace actorflow
