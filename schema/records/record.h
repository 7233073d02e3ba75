// What jobs compute with: values that travel between processes, are stored, compared and hashed as
// bytes.
//
//   bool, integers, float, double, Float16, BFloat16, enums; std::string; std::string_view; Tensor;
//   CapnpRecord (capnp_record.h); std::array, std::pair, std::tuple, std::optional and std::vector of
//   records; plain structs of 1 to 12 records: without constructors, bases, private members and C arrays
//
// Anything else does not compile, and require_record() says why. A type may not contain itself.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/values/short_float.h"
#include "schema/records/fields.h"

namespace actorflow {

class Tensor;
struct RecordReader;

namespace detail {

// The kinds of records. own: a type that brings its own encoding, as an OwnCodec.
enum class RecordKind { none, number, text, array, optional, vector, fields, own };

template <class T>
constexpr RecordKind template_kind = is_pair<T> || is_tuple<T> ? RecordKind::fields : RecordKind::none;
template <class T, std::size_t size>
constexpr RecordKind template_kind<std::array<T, size>> = RecordKind::array;
template <class T>
constexpr RecordKind template_kind<std::optional<T>> = RecordKind::optional;
template <class T>
constexpr RecordKind template_kind<std::vector<T>> = RecordKind::vector;
template <>
inline constexpr RecordKind template_kind<std::string> = RecordKind::text;
template <>
inline constexpr RecordKind template_kind<std::string_view> = RecordKind::text;
template <>
inline constexpr RecordKind template_kind<Tensor> = RecordKind::own;
template <class Format>
constexpr RecordKind template_kind<ShortFloat<Format>> = RecordKind::own;

// The encoding of a record of kind `own`.
template <class T>
struct OwnCodec;
// A tensor on a GPU is refused as invalid_argument.
template <>
struct OwnCodec<Tensor> {
  static constexpr std::size_t least_bytes = 1;
  static std::string layout() { return "tensor"; }
  static std::size_t encoded_size(const Tensor& tensor);
  static std::byte* encode(const Tensor& tensor, std::byte* to);
  static Tensor decode(RecordReader& from);
  static std::size_t heap_bytes(const Tensor& tensor);
};

// Flat, so its bytes are copied.
template <class Format>
struct OwnCodec<ShortFloat<Format>> {
  static std::string layout() { return std::is_same_v<Format, Binary16> ? "float16" : "bfloat16"; }
};

template <class T>
constexpr bool is_number = std::is_enum_v<T> || (std::is_arithmetic_v<T> && sizeof(T) <= 8 &&
                                                 !std::is_same_v<T, long double>);

template <class T>
consteval RecordKind record_kind() {
  if constexpr (std::is_const_v<T> || std::is_volatile_v<T>)
    return RecordKind::none;
  else if constexpr (is_number<T>)
    return RecordKind::number;
  else if constexpr (template_kind<T> != RecordKind::none)
    return template_kind<T>;
  else if constexpr (is_plain_class<T>())
    return has_plain_fields<T>() ? RecordKind::fields : RecordKind::none;
  else
    return RecordKind::none;
}

// The type as which a number is stored: for an enum its integer.
template <class T, bool = std::is_enum_v<T>>
struct NumberOf {
  using type = T;
};
template <class T>
struct NumberOf<T, true> {
  using type = std::underlying_type_t<T>;
};
template <class T>
using Number = typename NumberOf<T>::type;

enum class RecordMistake { none, pointer, c_array, other };

template <class T>
consteval RecordMistake record_mistake();

template <class... F>
consteval RecordMistake first_mistake(Types<F...>) {
  RecordMistake first = sizeof...(F) == 0 ? RecordMistake::other : RecordMistake::none;
  ((first = first == RecordMistake::none ? record_mistake<F>() : first), ...);
  return first;
}

template <class T>
consteval RecordMistake record_mistake() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_reference_v<T>)
    return RecordMistake::pointer;
  else if constexpr (std::is_array_v<T>)
    return RecordMistake::c_array;
  else if constexpr (kind == RecordKind::none)
    return is_plain_class<T>() ? RecordMistake::c_array : RecordMistake::other;
  else if constexpr (kind == RecordKind::number || kind == RecordKind::text || kind == RecordKind::own)
    return RecordMistake::none;
  else if constexpr (kind == RecordKind::fields)
    return first_mistake(FieldTypes<T>());
  else if constexpr (kind == RecordKind::array)
    return std::tuple_size_v<T> == 0 ? RecordMistake::other : record_mistake<typename T::value_type>();
  else
    return record_mistake<typename T::value_type>();
}

template <class T>
consteval bool is_flat();

template <class... F>
consteval bool are_flat(Types<F...>, std::size_t bytes) {
  return (is_flat<F>() && ...) && (sizeof(F) + ...) == bytes;
}

template <class T>
consteval bool is_flat() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::number)
    return !std::is_same_v<Number<T>, bool>;
  else if constexpr (is_short_float<T>)
    return true;
  else if constexpr (kind == RecordKind::array)
    return is_flat<typename T::value_type>();
  else if constexpr (kind == RecordKind::fields && std::is_aggregate_v<T>)
    return std::is_trivially_copyable_v<T> && are_flat(FieldTypes<T>(), sizeof(T));
  else
    return false;
}

}  // namespace detail

template <class T>
concept Record = detail::record_mistake<T>()
== detail::RecordMistake::none;

// Call it where a type comes from a user, for an error of one sentence instead of unsatisfied
// constraints.
template <class T>
consteval bool require_record() {
  constexpr auto mistake = detail::record_mistake<T>();
  static_assert(
      mistake != detail::RecordMistake::pointer,
      "a record may not hold a pointer or a reference, which means nothing in another process: "
      "hold the value itself, std::string, std::vector or std::optional");
  static_assert(
      mistake != detail::RecordMistake::c_array,
      "a struct that is a record has 1 to 12 fields, std::array instead of C arrays, and no bases: "
      "group its fields into structs");
  static_assert(
      mistake != detail::RecordMistake::other,
      "a record is bool, an integer, float, double, Float16, BFloat16, an enum, std::string, "
      "std::string_view, "
      "Tensor, CapnpRecord, std::array, std::pair, std::tuple, std::optional or std::vector of "
      "records, or a plain struct of 1 to 12 records without constructors, bases and private "
      "members");
  return mistake == detail::RecordMistake::none;
}

// Whether a record can be a key: false for records that are or hold a Tensor or a CapnpRecord, which
// have no order.
template <Record T>
consteval bool is_key();

namespace detail {

template <class... F>
consteval bool are_keys(Types<F...>) {
  return (is_key<F>() && ...);
}

}  // namespace detail

template <Record T>
consteval bool is_key() {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (kind == RecordKind::number || kind == RecordKind::text)
    return true;
  else if constexpr (kind == RecordKind::own)
    return false;
  else if constexpr (kind == RecordKind::fields)
    return detail::are_keys(detail::FieldTypes<T>());
  else
    return is_key<typename T::value_type>();
}

// As require_record(), for the type of a key.
template <class T>
consteval bool require_key() {
  static_assert(require_record<T>());
  static_assert(
      is_key<T>(),
      "a key may not be or hold a Tensor or a CapnpRecord, which have no order, or a Float16 or "
      "a BFloat16: take numbers or texts out of them");
  return is_key<T>();
}

// True if the object's bytes are its encoding, so that arrays of it are copied at once: for numbers, and
// for std::arrays and structs of them without padding. Not for bool, whose bytes must be checked to be 0
// or 1, and not for pairs and tuples, which C++ does not allow to be copied as bytes.
template <class T>
constexpr bool is_flat_record = false;
template <Record T>
constexpr bool is_flat_record<T> = detail::is_flat<T>();

// Names the encoding: "pair<string,int64>", "{array<uint8,10>,array<uint8,90>}". std::string and
// std::string_view have the same name, as they have the same encoding.
template <Record T>
std::string record_layout();

namespace detail {

template <class T>
std::string number_layout() {
  if constexpr (std::is_enum_v<T>) return "enum<" + number_layout<Number<T>>() + ">";
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, char>) return "char";
  const char* kind = std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint";
  return kind + std::to_string(8 * sizeof(T));
}

template <class First, class... F>
std::string field_layouts(Types<First, F...>) {
  std::string text = record_layout<First>();
  ((text += "," + record_layout<F>()), ...);
  return text;
}

}  // namespace detail

template <Record T>
std::string record_layout() {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (kind == RecordKind::number)
    return detail::number_layout<T>();
  else if constexpr (kind == RecordKind::text)
    return "string";
  else if constexpr (kind == RecordKind::own)
    return detail::OwnCodec<T>::layout();
  else if constexpr (kind == RecordKind::array)
    return "array<" + record_layout<typename T::value_type>() + "," +
           std::to_string(std::tuple_size_v<T>) + ">";
  else if constexpr (kind == RecordKind::optional)
    return "optional<" + record_layout<typename T::value_type>() + ">";
  else if constexpr (kind == RecordKind::vector)
    return "vector<" + record_layout<typename T::value_type>() + ">";
  else if constexpr (detail::is_pair<T>)
    return "pair<" + detail::field_layouts(detail::FieldTypes<T>()) + ">";
  else if constexpr (detail::is_tuple<T>)
    return "tuple<" + detail::field_layouts(detail::FieldTypes<T>()) + ">";
  else
    return "{" + detail::field_layouts(detail::FieldTypes<T>()) + "}";
}

}  // namespace actorflow
