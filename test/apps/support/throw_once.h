// What is planted into programs by planted/throw_once.cpp.
#pragma once

#include <string>

namespace actorflow::test {

// What the program prints when the handler throws.
inline constexpr const char* throws_here = "a handler throws here";

// What must be said of an exception that is planted as "lane/Completed:3:after:no_memory".
inline std::string cause_of(const std::string& throws) {
  if (throws.ends_with(":no_memory")) return "out of memory";
  return throws.ends_with(":of_no_type") ? "an exception of unknown type" : "a planted error";
}

}  // namespace actorflow::test
