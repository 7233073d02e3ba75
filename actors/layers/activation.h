// The function that a layer applies to its result.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "kernels/ops.h"

namespace actorflow {

// Any function of a tensor: relu, tanh, sigmoid, softmax, gelu, or one of your own, such as a lambda.
// None by default.
class Activation {
 public:
  using Function = std::function<Output(Output)>;

  Activation() = default;
  Activation(Output (*function)(Output)) : plain_(function), function_(function) {}  // NOLINT: see above
  Activation(Output (*function)(Output, bool))                                       // NOLINT: gelu
      : function_([function](Output x) { return function(x, false); }) {}
  template <class Own>
  requires std::is_invocable_r_v<Output, const Own&, Output> Activation(Own function)  // NOLINT
      : function_(std::move(function)) {}

  explicit operator bool() const { return static_cast<bool>(function_); }
  // Relu is computed together with what comes before it.
  bool is_relu() const { return is(&relu); }
  // False also for a lambda that calls this function.
  bool is(Output (*function)(Output)) const { return plain_ == function; }
  Output operator()(Output x) const { return function_ ? function_(x) : x; }

 private:
  Output (*plain_)(Output) = nullptr;
  Function function_;
};

}  // namespace actorflow
