// The passes of a recurrent cell over the steps of a sequence, forward and backward, on the CPU and the
// GPU. For recurrent.cu only.
//
// A step is a product with the recurrent weights, by the kernel of MatMul, and one loop over the units.
// On a CPU the examples are divided among threads, which need not wait for each other between steps; on
// a GPU a step is two launches.
#pragma once

#include <cstring>

#include "kernels/core/dtypes.h"
#include "kernels/loops/vectorised.h"
#include "kernels/products/matmul.h"
#include "kernels/recurrent/cells.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow::recurrent {

// One step forward, for run_loop().
template <class Cell, class T>
struct ForwardLoop {
  Cell cell;
  ForwardStep<T> step;
  ACTORFLOW_HOST_DEVICE void compute(std::int64_t row, std::int64_t unit) const {
    cell.forward(step, row, unit);
  }
  ACTORFLOW_HOST_DEVICE void skip(std::int64_t row, std::int64_t unit) const {
    cell.hold(step, row, unit);
  }
};

// One step backward.
template <class Cell, class T>
struct BackwardLoop {
  Cell cell;
  BackwardStep<T> step;
  ACTORFLOW_HOST_DEVICE void compute(std::int64_t row, std::int64_t unit) const {
    cell.backward(step, row, unit);
  }
  ACTORFLOW_HOST_DEVICE void skip(std::int64_t row, std::int64_t unit) const {
    pass_on<Cell>(step, row, unit);
  }
};

#ifdef ACTORFLOW_CUDA

template <class Loop>
struct LoopOnCuda {
  Loop loop;
  ACTORFLOW_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t row = i / loop.step.units, unit = i % loop.step.units;
    !loop.step.mask || loop.step.mask[row] ? loop.compute(row, unit) : loop.skip(row, unit);
  }
};

#endif

template <class Loop>
void run_on_cpu(const Loop& loop, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row)
    if (!loop.step.mask || loop.step.mask[row])
      vectorised([=] {
#pragma GCC ivdep
        for (std::int64_t unit = 0; unit < loop.step.units; ++unit) loop.compute(row, unit);
      });
    else
      for (std::int64_t unit = 0; unit < loop.step.units; ++unit) loop.skip(row, unit);
}

template <class Loop>
void run_loop(Device& device, const Loop& loop, std::int64_t rows) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return launch(device, rows * loop.step.units, LoopOnCuda<Loop>{loop});
#endif
  if (device.type() == DeviceType::cpu) run_on_cpu(loop, rows);
}

// The tensors [steps, batch, ...] of a sequence, as all passes see them.
struct Sequence {
  std::int64_t steps, batch, units;
  bool backwards;
  const bool* mask;  // [steps, batch], or null

  // The place of step `number` in the direction of the cell.
  std::int64_t place(std::int64_t number) const { return backwards ? steps - 1 - number : number; }
  // The row of an example at a place, in a tensor whose rows are so many times the units wide.
  template <class T>
  T* row(T* tensor, std::int64_t at, std::int64_t example, std::int64_t times = 1) const {
    return tensor ? tensor + (at * batch + example) * times * units : nullptr;
  }
  const bool* mask_row(std::int64_t at, std::int64_t example) const {
    return mask ? mask + at * batch + example : nullptr;
  }
};

// Calls body(first, last, team) for shares of the examples.
template <class Body>
void for_each_share(const OpContext& c, const Sequence& s, const Body& body) {
  constexpr std::int64_t examples_of_share = 16, most = 64;
  const bool on_gpu = c.device().type() == DeviceType::cuda;
  const Shares shares(s.batch, on_gpu ? 1 : s.batch / examples_of_share, most);
  Team* const team = shares.count() == 1 ? c.team() : nullptr;
  share_out(c.team(), shares, [&](std::int64_t first, std::int64_t last) { body(first, last, team); });
}

template <class T>
Tensor zeros(const OpContext& c, std::int64_t rows, std::int64_t columns) {
  Tensor tensor = Tensor::allocate(dtype_of<T>, {rows, columns}, c.device().allocator());
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda) {
    check_cuda(cudaMemsetAsync(tensor.mutable_data(), 0, tensor.size_bytes(), cuda_stream(c.device())),
               "clear the first state of a sequence");
    return tensor;
  }
#endif
  std::memset(tensor.mutable_data(), 0, tensor.size_bytes());
  return tensor;
}

inline Tensor multiply(const OpContext& c, const Product& product, const Tensor& a,
                       const Tensor& weights, Team* team) {
  Tensor inputs[] = {a, weights}, outputs[1];
  OpContext inner(c.node(), c.device(), inputs, outputs, team, c.interruption());
  product.compute(inner);
  return outputs[0];
}

// The tensors of a pass forward.
template <class T>
struct ForwardTensors {
  Sequence sequence;
  const T *inputs, *bias;
  T *saved, *h;
};

template <class Cell, class T>
void pass_forward(const OpContext& c, const Product& product, const Tensor& weights, const Cell& cell,
                  const ForwardTensors<T>& all) {
  const Sequence& s = all.sequence;
  for_each_share(c, s, [&](std::int64_t first, std::int64_t last, Team* team) {
    const std::int64_t rows = last - first;
    Tensor state = zeros<T>(c, rows, s.units), memory;
    if (Cell::has_memory) memory = zeros<T>(c, rows, s.units);
    Tensor of_state = zeros<T>(c, rows, Cell::gates * s.units);
    for (std::int64_t number = 0; number < s.steps; ++number) {
      c.expect_use();
      if (number > 0) of_state = multiply(c, product, state, weights, team);
      const std::int64_t at = s.place(number);
      const ForwardStep<T> step{.units = s.units,
                                .inputs = s.row(all.inputs, at, first, Cell::gates),
                                .product = data_of<T>(of_state),
                                .bias = all.bias,
                                .mask = s.mask_row(at, first),
                                .state = mutable_data_of<T>(state),
                                .memory = mutable_data_of<T>(memory),
                                .saved = s.row(all.saved, at, first, Cell::saved),
                                .h = s.row(all.h, at, first)};
      run_loop(c.device(), ForwardLoop<Cell, T>{cell, step}, rows);
    }
  });
}

// The tensors of a pass backward.
template <class T>
struct BackwardTensors {
  Sequence sequence;
  const T *g, *h, *saved;
  T *inputs, *recurrent;  // gradients; the latter may be null
};

// `product` multiplies with the weights transposed.
template <class Cell, class T>
void pass_backward(const OpContext& c, const Product& product, const Tensor& weights, const Cell& cell,
                   const BackwardTensors<T>& all) {
  const Sequence& s = all.sequence;
  for_each_share(c, s, [&](std::int64_t first, std::int64_t last, Team* team) {
    const std::int64_t rows = last - first;
    Tensor passed = zeros<T>(c, rows, s.units), memory;
    if (Cell::has_memory) memory = zeros<T>(c, rows, s.units);
    Tensor of_state = zeros<T>(c, rows, s.units), factor = zeros<T>(c, rows, Cell::gates * s.units);
    const Tensor none = zeros<T>(c, rows, std::max(Cell::saved, 1) * s.units);  // before the first step
    for (std::int64_t number = s.steps - 1; number >= 0; --number) {
      c.expect_use();
      if (number + 1 < s.steps) of_state = multiply(c, product, factor, weights, team);
      const std::int64_t at = s.place(number), before = s.place(number - 1);
      const auto row_before = [&](const T* tensor, std::int64_t times) {
        return number == 0 ? data_of<T>(none) : s.row(tensor, before, first, times);
      };
      const BackwardStep<T> step{.units = s.units,
                                 .g = s.row(all.g, at, first),
                                 .product = data_of<T>(of_state),
                                 .h = s.row(all.h, at, first),
                                 .saved = s.row(all.saved, at, first, Cell::saved),
                                 .before = row_before(all.h, 1),
                                 .saved_before = row_before(all.saved, Cell::saved),
                                 .mask = s.mask_row(at, first),
                                 .passed = mutable_data_of<T>(passed),
                                 .memory = mutable_data_of<T>(memory),
                                 .inputs = s.row(all.inputs, at, first, Cell::gates),
                                 .recurrent = s.row(all.recurrent, at, first, Cell::gates),
                                 .factor = mutable_data_of<T>(factor)};
      run_loop(c.device(), BackwardLoop<Cell, T>{cell, step}, rows);
    }
  });
}

}  // namespace actorflow::recurrent
