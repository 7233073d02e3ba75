// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "dataflow/values/short_float.h"

namespace actorflow {

// The numbers are part of the wire format (schema/tensor.capnp).
enum class DType : std::uint8_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  int64 = 4,
  boolean = 5,
  uint8 = 6,
  string = 7,
  float16 = 8,
  bfloat16 = 9,
  int8 = 10,
  int16 = 11,
};

// Bytes of one element; a string element is a std::string in its buffer.
std::size_t size_of(DType dtype);
// The name: "float32"; "bool" for boolean.
std::string_view to_string(DType dtype);
// The dtype of that name. Throws invalid_argument that lists the known names.
DType parse_dtype(std::string_view name);

// The floating dtypes of 32 and 64 bits, which every op on floating numbers computes with.
constexpr bool is_float32_or_64(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64;
}
// The floating dtypes of 16 bits: some ops compute with them, others want a cast before.
constexpr bool is_short_floating(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16;
}
constexpr bool is_floating(DType dtype) { return is_float32_or_64(dtype) || is_short_floating(dtype); }
constexpr bool is_integer(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int64 || dtype == DType::uint8 ||
         dtype == DType::int8 || dtype == DType::int16;
}

// dtype_of<T>: the DType whose elements are C++ type T.
template <class T>
inline constexpr DType dtype_of = DType::invalid;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<double> = DType::float64;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of<std::string> = DType::string;
template <>
inline constexpr DType dtype_of<Float16> = DType::float16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::int16;

template <class T>
concept Element = dtype_of<std::remove_cv_t<T>>
!= DType::invalid;

}  // namespace actorflow
