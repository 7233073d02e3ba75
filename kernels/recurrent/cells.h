// What recurrent cells compute in one step for one unit of one example, forward and backward. For
// recurrent.cu only.
#pragma once

#include <cstdint>

#include "kernels/devices/host_device.h"
#include "kernels/loops/elementary.h"

namespace actorflow::recurrent {

// Functions f(x), and their slopes by y = f(x).
struct Tanh {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return elementary::tanh(x);
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE T slope(T y) const {
    return 1 - y * y;
  }
};
struct Sigmoid {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return elementary::sigmoid(x);
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE T slope(T y) const {
    return y * (1 - y);
  }
};
struct Rectified {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return x < 0 ? T(0) : x;  // NaN stays NaN
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE T slope(T y) const {
    return y > 0 ? T(1) : T(0);
  }
};
struct Linear {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return x;
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE T slope(T) const {
    return 1;
  }
};

// Some rows of a step, each of `units` for each of the cell's gates, saved values and so on. `state` and
// `memory` are those before the step, and are replaced by those after it; only some cells have a memory.
template <class T>
struct ForwardStep {
  std::int64_t units;
  const T *inputs, *product, *bias;  // product: of the state and the recurrent weights
  const bool* mask;                  // may be null
  T *state, *memory, *saved, *h;
};

// The same backward. `product`: the gradient of the state by what the later step multiplied it with;
// `passed`: by what it did with it element by element. `before` and `saved_before` are of the step
// before.
template <class T>
struct BackwardStep {
  std::int64_t units;
  const T *g, *product, *h, *saved, *before, *saved_before;
  const bool* mask;
  T *passed, *memory;     // those of this step's state, replaced by those of the state before it
  T *inputs, *recurrent;  // of the gates' inputs; of the product; the latter only where they differ
  T* factor;              // those of the product once more, for its own gradient
};

template <class F>
struct SimpleCell {
  static constexpr int gates = 1, saved = 0;
  static constexpr bool has_memory = false, has_bias = false;
  F f;

  template <class T>
  ACTORFLOW_HOST_DEVICE void forward(const ForwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t i = row * s.units + u;
    s.h[i] = s.state[i] = f(s.inputs[i] + s.product[i]);
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE void hold(const ForwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t i = row * s.units + u;
    s.h[i] = s.state[i];
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE void backward(const BackwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t i = row * s.units + u;
    s.inputs[i] = s.factor[i] = (s.g[i] + s.product[i] + s.passed[i]) * f.slope(s.h[i]);
    s.passed[i] = 0;
  }
};

// Saves the gates and the memory.
template <class F>
struct LstmCell {
  static constexpr int gates = 4, saved = 5;
  static constexpr bool has_memory = true, has_bias = false;
  F f;

  template <class T>
  ACTORFLOW_HOST_DEVICE void forward(const ForwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t n = s.units, i = row * n + u;
    const T *x = s.inputs + row * gates * n + u, *p = s.product + row * gates * n + u;
    T* save = s.saved + row * saved * n + u;
    const Sigmoid gate;
    const T in = gate(x[0] + p[0]), forget = gate(x[n] + p[n]), out = gate(x[3 * n] + p[3 * n]);
    const T candidate = f(x[2 * n] + p[2 * n]), memory = forget * s.memory[i] + in * candidate;
    save[0] = in;
    save[n] = forget;
    save[2 * n] = candidate;
    save[3 * n] = out;
    s.memory[i] = save[4 * n] = memory;
    s.h[i] = s.state[i] = out * f(memory);
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE void hold(const ForwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t n = s.units, i = row * n + u;
    T* save = s.saved + row * saved * n + u;
    for (int gate = 0; gate < gates; ++gate) save[gate * n] = 0;
    save[4 * n] = s.memory[i];
    s.h[i] = s.state[i];
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE void backward(const BackwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t n = s.units, i = row * n + u;
    const T* save = s.saved + row * saved * n + u;
    T *dx = s.inputs + row * gates * n + u, *factor = s.factor + row * gates * n + u;
    const Sigmoid gate;
    const T in = save[0], forget = save[n], candidate = save[2 * n], out = save[3 * n];
    const T shown = f(save[4 * n]), before = s.saved_before[row * saved * n + 4 * n + u];
    const T dh = s.g[i] + s.product[i] + s.passed[i];
    const T dc = s.memory[i] + dh * out * f.slope(shown);
    dx[0] = factor[0] = dc * candidate * gate.slope(in);
    dx[n] = factor[n] = dc * before * gate.slope(forget);
    dx[2 * n] = factor[2 * n] = dc * in * f.slope(candidate);
    dx[3 * n] = factor[3 * n] = dh * shown * gate.slope(out);
    s.memory[i] = dc * forget;
    s.passed[i] = 0;
  }
};

// Saves the gates and the candidate's product with its bias.
template <class F>
struct GruCell {
  static constexpr int gates = 3, saved = 4;
  static constexpr bool has_memory = false, has_bias = true;
  F f;

  template <class T>
  ACTORFLOW_HOST_DEVICE void forward(const ForwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t n = s.units, i = row * n + u;
    const T *x = s.inputs + row * gates * n + u, *p = s.product + row * gates * n + u, *b = s.bias + u;
    T* save = s.saved + row * saved * n + u;
    const Sigmoid gate;
    const T update = gate(x[0] + (p[0] + b[0])), reset = gate(x[n] + (p[n] + b[n]));
    const T product = p[2 * n] + b[2 * n], candidate = f(x[2 * n] + reset * product);
    save[0] = update;
    save[n] = reset;
    save[2 * n] = candidate;
    save[3 * n] = product;
    s.h[i] = s.state[i] = update * s.state[i] + (1 - update) * candidate;
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE void hold(const ForwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t n = s.units, i = row * n + u;
    for (int value = 0; value < saved; ++value) s.saved[row * saved * n + value * n + u] = 0;
    s.h[i] = s.state[i];
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE void backward(const BackwardStep<T>& s, std::int64_t row, std::int64_t u) const {
    const std::int64_t n = s.units, i = row * n + u, first = row * gates * n + u;
    const T* save = s.saved + row * saved * n + u;
    T *dx = s.inputs + first, *dp = s.recurrent + first, *factor = s.factor + first;
    const Sigmoid gate;
    const T update = save[0], reset = save[n], candidate = save[2 * n], product = save[3 * n];
    const T dh = s.g[i] + s.product[i] + s.passed[i];
    const T d_candidate = dh * (1 - update) * f.slope(candidate);
    dx[0] = dp[0] = factor[0] = dh * (s.before[i] - candidate) * gate.slope(update);
    dx[n] = dp[n] = factor[n] = d_candidate * product * gate.slope(reset);
    dx[2 * n] = d_candidate;
    dp[2 * n] = factor[2 * n] = d_candidate * reset;
    s.passed[i] = dh * update;
  }
};

// Backward where the mask is false: all goes on to the state before.
template <class Cell, class T>
ACTORFLOW_HOST_DEVICE void pass_on(const BackwardStep<T>& s, std::int64_t row, std::int64_t u) {
  const std::int64_t n = s.units, i = row * n + u;
  s.passed[i] = s.g[i] + s.product[i] + s.passed[i];
  for (int gate = 0; gate < Cell::gates; ++gate) {
    const std::int64_t place = row * Cell::gates * n + gate * n + u;
    s.inputs[place] = s.factor[place] = 0;
    if (s.recurrent) s.recurrent[place] = 0;
  }
}

}  // namespace actorflow::recurrent
