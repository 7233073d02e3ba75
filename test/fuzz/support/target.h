// Helpers of fuzz targets. A target takes any bytes and accepts them or throws Error. Anything else is a
// finding: another exception, a sanitizer's report, a failed require(), much memory or time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "dataflow/values/error.h"

// The target, once per program, as libFuzzer calls it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace actorflow::fuzz {

using Input = std::span<const std::byte>;

inline Input input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}
inline std::string text(Input bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Ends the program unless the condition holds.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// True if `body` ends, false if it throws an Error that tells a user what is wrong with the input.
template <class Body>
bool accepts(Body&& body) {
  try {
    std::forward<Body>(body)();
    return true;
  } catch (const Error& error) {
    require(error.code() != Code::internal && *error.what() != '\0', "an error says what is wrong");
    return false;
  }
}

// Takes the first bytes of the input as a number; 0 where it ends.
template <class T>
T take(Input& input) {
  T value{};
  const std::size_t size = input.size() < sizeof value ? input.size() : sizeof value;
  std::memcpy(&value, input.data(), size);
  input = input.subspan(size);
  return value;
}

}  // namespace actorflow::fuzz
