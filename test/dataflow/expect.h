// A predicate of errors for the tests of this folder.
#pragma once

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow::test {

// For BOOST_CHECK_EXCEPTION: an Error with that code whose message has all the parts.
inline std::function<bool(const Error&)> error_with(Code code, std::vector<std::string> parts) {
  return [code, parts = std::move(parts)](const Error& error) {
    const std::string message = error.what();
    BOOST_TEST_MESSAGE("the error is: " << error.status().to_string());
    for (const auto& part : parts)
      if (message.find(part) == std::string::npos) {
        BOOST_TEST_MESSAGE("which does not contain: " << part);
        return false;
      }
    return error.code() == code;
  };
}

inline std::function<bool(const Error&)> invalid_with(std::vector<std::string> parts) {
  return error_with(Code::invalid_argument, std::move(parts));
}

}  // namespace actorflow::test
