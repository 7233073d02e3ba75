// Sets of dtypes that ops accept, and dispatch from a dtype at run time to a C++ type.
#pragma once

#include <string>

#include "dataflow/values/dtype.h"
#include "kernels/core/kernel.h"

namespace actorflow {

template <Element... T>
struct DTypes {
  static bool contains(DType dtype) { return ((dtype == dtype_of<T>) || ...); }

  // The names of the dtypes: "float32, float64".
  static std::string names() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + std::string(to_string(dtype_of<T>))), ...);
    return text;
  }

  // Calls body.operator()<T>() for the C++ type T of `dtype`; false if it is not in the set.
  template <class Body>
  static bool dispatch(DType dtype, Body&& body) {
    return ((dtype == dtype_of<T> && (body.template operator()<T>(), true)) || ...);
  }
};

using FloatingTypes = DTypes<float, double>;
using NumericTypes = DTypes<float, double, std::int32_t, std::int64_t>;
using PlainTypes = DTypes<float, double, std::int32_t, std::int64_t, bool, std::uint8_t>;

// The elements of a tensor. REQUIRES: its dtype is that of T.
template <Element T>
const T* data_of(const Tensor& tensor) {
  return static_cast<const T*>(tensor.data());
}
template <Element T>
T* mutable_data_of(Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data());
}

// Throws through InferContext::fail unless the input has one of the dtypes.
template <class Types>
void expect_dtype_in(const InferContext& c, int input) {
  if (!Types::contains(c.input(input).dtype))
    c.fail("input " + std::to_string(input) + " of one of " + Types::names(),
           c.input(input).to_string());
}

// Calls body.operator()<T>() for the tensor's type T; throws through OpContext::fail if there is none.
template <class Types, class Body>
void dispatch(const OpContext& c, const Tensor& tensor, Body&& body) {
  if (!Types::dispatch(tensor.dtype(), std::forward<Body>(body)))
    c.fail("a tensor of one of " + Types::names(), tensor.describe());
}

// An op whose kernel is one function for the CPU and, in a build with CUDA, for the GPU.
template <void (*kernel)(OpContext&)>
Op on_all_devices(const OpDef& def) {
#ifdef ACTORFLOW_CUDA
  return {&def, stateless<kernel>, stateless<kernel>};
#else
  return {&def, stateless<kernel>, nullptr};
#endif
}

}  // namespace actorflow
