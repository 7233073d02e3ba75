// Assertions that stay on in release: what a function REQUIRES of its callers.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "dataflow/values/same_build.h"

namespace actorflow::detail {

// A part of the message: a text or a number.
struct CheckedValue {
  CheckedValue(std::string_view value) : text(value) {}
  CheckedValue(const char* value) : text(value) {}
  CheckedValue(const std::string& value) : text(value) {}
  template <class Number>
  requires std::is_arithmetic_v<Number> CheckedValue(Number value) : text(std::to_string(value)) {}

  std::string text;
};

// Prints "dataflow/values/shape.cpp:31: broken invariant: <condition>: <values>" and ends the process
// with SIGABRT.
[[noreturn, gnu::cold]] void fail_check(const char* condition, const char* file, int line,
                                        std::initializer_list<CheckedValue> values) noexcept;

}  // namespace actorflow::detail

// Ends the process, naming the place, unless the condition holds. The values, any number of texts and
// numbers, are evaluated only then:
//
//   ACTORFLOW_CHECK(0 <= axis && axis < rank(), "axis", axis, "of a shape of rank", rank());
//
// For bugs of this program: mistakes of a user or of another process are an Error. A REQUIRES that no
// condition can test has no check: that one object outlives another, that this thread holds a mutex.
#define ACTORFLOW_CHECK(condition, ...)              \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::actorflow::detail::fail_check(#condition, __FILE__, __LINE__, {__VA_ARGS__}))
