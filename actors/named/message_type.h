// The messages of users' actors: plain structs, such as struct Add { std::string key; std::int64_t by;
// }. Their fields are records (schema/records/record.h); a struct without fields is a message, too.
//
// Each message travels with a text that names its struct and the types of the fields,
// "Add{string,int64}". Programs whose structs differ in that text refuse each other's messages.
// Namespaces do not count.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"
#include "schema/records/record_codec.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// An answer on its way: an error, or a struct of that type as bytes.
struct RawAnswer {
  Status status;
  std::string type;
  Tensor payload;
};

// Thrown by a handler: the sender gets this error, and the actor goes on as it is. (Anything else that a
// handler throws is a failure of the actor: SpawnOptions.)
class Refused : public Error {
 public:
  using Error::Error;
};

namespace detail {

template <class T>
constexpr bool is_fieldless =
    std::is_class_v<T>&& std::is_empty_v<T>&& std::is_aggregate_v<T> && !std::is_polymorphic_v<T>;

// "Add" for struct Add, in whatever namespace, as both compilers spell it: "... [with T = ns::Add; ...".
template <class T>
constexpr std::string_view struct_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  const auto colon = text.substr(0, text.find('<')).rfind(':');
  return colon == text.npos ? text : text.substr(colon + 1);
}

// True unless it holds a std::string_view, which points into the bytes that it was read from.
template <class T>
consteval bool is_kept() {
  if constexpr (is_fieldless<T>)
    return true;
  else
    return !has_view<T>();
}

// The bytes of a payload. Throws data_loss unless they are uint8 in one dimension.
std::span<const std::byte> payload_bytes(const Tensor& payload);
Tensor make_payload(std::size_t size_bytes);
[[noreturn]] void throw_rest_of_payload(const std::string& type, std::size_t bytes);
// Throws the error, or invalid_argument if the answer is of another type.
void check_answer(const RawAnswer& answer, const std::string& expected);

inline constexpr const char* no_answer_type = "void";
// Every actor answers it.
struct AreYouThere {};

}  // namespace detail

template <class T>
consteval bool require_actor_message() {
  static_assert(std::is_class_v<T> && std::is_aggregate_v<T>,
                "a message between actors is a plain struct, whose name says what it means");
  if constexpr (!detail::is_fieldless<T>) return require_record<T>();
  return true;
}

// "Add{string,int64}".
template <class T>
const std::string& message_type() {
  static_assert(require_actor_message<T>());
  static const std::string text = [] {
    std::string name(detail::struct_name<T>());
    if constexpr (detail::is_fieldless<T>)
      return name + "{}";
    else
      return name + record_layout<T>();
  }();
  return text;
}

template <class T>
Tensor to_payload(const T& message) {
  static_assert(require_actor_message<T>());
  if constexpr (detail::is_fieldless<T>) {
    return {};
  } else {
    Tensor payload = detail::make_payload(encoded_size(message));
    encode(message, static_cast<std::byte*>(payload.mutable_data()));
    return payload;
  }
}

// A std::string_view in it points into the payload. Throws data_loss if the bytes are no T.
template <class T>
T from_payload(const Tensor& payload) {
  RecordReader reader(detail::payload_bytes(payload));
  const auto ended = [&reader](T message) {
    if (!reader.empty()) detail::throw_rest_of_payload(message_type<T>(), reader.bytes_left());
    return message;
  };
  if constexpr (detail::is_fieldless<T>)
    return ended(T{});
  else
    return ended(decode<T>(reader));
}

}  // namespace actorflow
