// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

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
};

// Bytes of one element; a string element is a std::string in its buffer.
std::size_t size_of(DType dtype);
// The name: "float32"; "bool" for boolean.
std::string_view to_string(DType dtype);
// The dtype of that name. Throws invalid_argument that lists the known names.
DType parse_dtype(std::string_view name);

inline bool is_floating(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }
inline bool is_integer(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int64 || dtype == DType::uint8;
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

template <class T>
concept Element = dtype_of<std::remove_cv_t<T>>
!= DType::invalid;

}  // namespace actorflow
