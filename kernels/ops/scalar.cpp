// Numbers as constants of a tensor's dtype.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/core/dtypes.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using ScalarTypes = DTypes<float, double, std::int32_t, std::int64_t, std::uint8_t, Float16, BFloat16,
                           std::int8_t, std::int16_t>;

// Floating types round what they cannot hold; integers hold it or do not.
template <class T>
bool holds(double value) {
  if constexpr (is_floating(dtype_of<T>))
    return true;
  else
    return std::trunc(value) == value && value >= static_cast<double>(std::numeric_limits<T>::min()) &&
           value < std::ldexp(1.0, std::numeric_limits<T>::digits);
}

template <class T>
bool holds(std::int64_t value) {
  if constexpr (is_floating(dtype_of<T>))
    return true;
  else
    return std::in_range<T>(value);
}

template <class Value>
Output constant_like(Output like, Value value) {
  Tensor scalar;
  ScalarTypes::dispatch(like.dtype(), [&]<class T>() {
    if (holds<T>(value)) scalar = Tensor::scalar(static_cast<T>(value));
  });
  if (!scalar.valid())
    throw invalid_argument("the number " + std::to_string(value) + " beside '" + like.name() +
                           "' cannot be a " + std::string(to_string(like.dtype())) +
                           "; cast that tensor first");
  return like.graph->constant(scalar);
}

}  // namespace

Output scalar_like(Output like, double value) { return constant_like(like, value); }
Output scalar_like(Output like, std::int64_t value) { return constant_like(like, value); }

}  // namespace actorflow
