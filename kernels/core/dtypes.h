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
// The same with the floating types of 16 bits.
using AllFloatingTypes = DTypes<float, double, Float16, BFloat16>;
using ArithmeticTypes = DTypes<float, double, std::int32_t, std::int64_t, Float16, BFloat16>;
// All but strings, for what moves and casts elements.
using PlainTypes = DTypes<float, double, std::int32_t, std::int64_t, bool, std::uint8_t, Float16,
                          BFloat16, std::int8_t, std::int16_t>;

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
  const TensorType& type = c.input(input);
  if (Types::contains(type.dtype)) return;
  const bool casts = is_short_floating(type.dtype) && Types::contains(DType::float32);
  c.fail("input " + std::to_string(input) + " of one of " + Types::names(),
         type.to_string() + (casts ? "; cast it to float32 first" : ""));
}

// Calls body.operator()<T>() for the tensor's type T; throws through OpContext::fail if there is none.
template <class Types, class Body>
void dispatch(const OpContext& c, const Tensor& tensor, Body&& body) {
  if (!Types::dispatch(tensor.dtype(), std::forward<Body>(body)))
    c.fail("a tensor of one of " + Types::names(), tensor.describe());
}

// For kernels that only move elements: calls body.operator()<T>() for an unsigned type T of the size of
// the tensor's elements, so that types of one size share the code. Throws if they are strings.
template <class Body>
void dispatch_by_size(const OpContext& c, const Tensor& tensor, Body&& body) {
  if (!PlainTypes::contains(tensor.dtype()))
    c.fail("a tensor of one of " + PlainTypes::names(), tensor.describe());
  switch (size_of(tensor.dtype())) {
    case 1:
      return body.template operator()<std::uint8_t>();
    case 2:
      return body.template operator()<std::uint16_t>();
    case 4:
      return body.template operator()<std::uint32_t>();
    default:
      return body.template operator()<std::uint64_t>();
  }
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
