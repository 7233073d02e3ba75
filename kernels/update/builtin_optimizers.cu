// The built-in optimizers that compute each element by itself, and the list of all built-in ones.
#include <array>
#include <cmath>

#ifdef __CUDACC__  // first: the updates on GPUs use them, whose headers programs have not
#include "kernels/devices/cuda_device.h"
#include "kernels/update/joint_update.h"
#include "kernels/update/sorted_rows.h"
#endif
#include "kernels/update/elementwise_optimizer.h"
#include "kernels/update/graph_optimizer.h"

namespace actorflow {
namespace {

template <class T>
struct SgdRule {
  T learning_rate;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value) const { value -= learning_rate * g; }
};

struct SgdUpdate : Sgd {
  template <class T>
  auto rule(std::int64_t) const {
    return SgdRule<T>{T(learning_rate)};
  }
};

template <class T>
struct MomentumRule {
  T learning_rate, momentum;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a) const {
    a = momentum * a + g;
    value -= learning_rate * a;
  }
};

struct MomentumUpdate : Momentum {
  template <class T>
  auto rule(std::int64_t) const {
    return MomentumRule<T>{T(learning_rate), T(momentum)};
  }
};

template <class T>
struct NesterovRule {
  T learning_rate, momentum;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a) const {
    a = momentum * a + g;
    value -= learning_rate * g + learning_rate * momentum * a;
  }
};

struct NesterovUpdate : Nesterov {
  template <class T>
  auto rule(std::int64_t) const {
    return NesterovRule<T>{T(learning_rate), T(momentum)};
  }
};

template <class T>
struct AdagradRule {
  T learning_rate;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a) const {
    a += g * g;
    value -= g == 0 ? g : learning_rate * g / std::sqrt(a);  // the root may be 0
  }
};

struct AdagradUpdate : Adagrad {
  template <class T>
  auto rule(std::int64_t) const {
    return AdagradRule<T>{T(learning_rate)};
  }
};

template <class T>
struct AdamRule {
  T learning_rate, one_minus_beta1, one_minus_beta2, epsilon;  // the rate of this step
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& m, T& v) const {
    m += one_minus_beta1 * (g - m);
    v += one_minus_beta2 * (g * g - v);
    value -= learning_rate * m / (std::sqrt(v) + epsilon);
  }
};

struct AdamUpdate : Adam {
  template <class T>
  auto rule(std::int64_t step) const {
    const auto t = static_cast<double>(step);
    const double rate = learning_rate * std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
    return AdamRule<T>{T(rate), T(1 - beta1), T(1 - beta2), T(epsilon)};
  }
};

template <class T>
struct RmsPropRule {
  T learning_rate, one_minus_decay, momentum, epsilon;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& s, T& a) const {
    s += one_minus_decay * (g * g - s);
    a = momentum * a + learning_rate * g / std::sqrt(s + epsilon);
    value -= a;
  }
};

struct RmsPropUpdate : RmsProp {
  template <class T>
  auto rule(std::int64_t) const {
    return RmsPropRule<T>{T(learning_rate), T(1 - decay), T(momentum), T(epsilon)};
  }
};

template <class T>
struct AdamWRule {
  T rate, decay, one_minus_beta1, one_minus_beta2, root_scale, epsilon;  // rate and scale of this step
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& m, T& v) const {
    value -= decay * value;
    m += one_minus_beta1 * (g - m);
    v += one_minus_beta2 * (g * g - v);
    value -= rate * m / (std::sqrt(v) * root_scale + epsilon);
  }
};

struct AdamWUpdate : AdamW {
  template <class T>
  auto rule(std::int64_t step) const {
    const auto t = static_cast<double>(step);
    const double rate = learning_rate / (1 - std::pow(beta1, t));
    const double root_scale = 1 / std::sqrt(1 - std::pow(beta2, t));
    return AdamWRule<T>{
        T(rate), T(learning_rate * weight_decay), T(1 - beta1), T(1 - beta2), T(root_scale), T(epsilon)};
  }
};

template <class T>
struct LionRule {
  T learning_rate, one_minus_beta1, one_minus_beta2, weight_decay;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& m) const {
    const T mixed = m + one_minus_beta1 * (g - m);
    const T sign = mixed > 0 ? T(1) : mixed < 0 ? T(-1) : mixed;  // 0 or NaN
    m += one_minus_beta2 * (g - m);
    value -= learning_rate * (sign + weight_decay * value);
  }
};

struct LionUpdate : Lion {
  template <class T>
  auto rule(std::int64_t) const {
    return LionRule<T>{T(learning_rate), T(1 - beta1), T(1 - beta2), T(weight_decay)};
  }
};

template <class T>
struct FtrlRule {
  T learning_rate, l1, l2;
  ACTORFLOW_HOST_DEVICE void operator()(T g, T& value, T& a, T& linear) const {
    if (learning_rate == 0) return;  // as the first steps of a warm-up: nothing is learnt
    const T before = std::sqrt(a);
    a += g * g;
    const T root = std::sqrt(a);
    linear += g - (root - before) / learning_rate * value;
    const T shrunk = linear > l1 ? l1 - linear : linear < -l1 ? -l1 - linear : linear - linear;
    value = shrunk == 0 ? shrunk : shrunk / (root / learning_rate + 2 * l2);  // the root may be 0
  }
};

struct FtrlUpdate : Ftrl {
  template <class T>
  auto rule(std::int64_t) const {
    return FtrlRule<T>{T(learning_rate), T(l1), T(l2)};
  }
};

}  // namespace

std::span<const OptimizerRule* const> builtin_optimizer_rules() {
  static const std::array all = {&elementwise_optimizer<SgdUpdate>(),
                                 &elementwise_optimizer<MomentumUpdate>(),
                                 &elementwise_optimizer<NesterovUpdate>(),
                                 &elementwise_optimizer<AdagradUpdate>(),
                                 &elementwise_optimizer<AdamUpdate>(),
                                 &elementwise_optimizer<RmsPropUpdate>(),
                                 &elementwise_optimizer<AdamWUpdate>(),
                                 &elementwise_optimizer<LionUpdate>(),
                                 &elementwise_optimizer<FtrlUpdate>(),
                                 &lamb_optimizer(),
                                 &muon_optimizer()};
  return all;
}

}  // namespace actorflow
