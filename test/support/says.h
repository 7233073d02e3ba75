// Errors by what they say, for BOOST_CHECK_EXCEPTION.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow::test {

// A predicate: the error's message has this text.
inline auto says(std::string text) {
  return [text = std::move(text)](const Error& error) {
    const bool found = std::string(error.what()).find(text) != std::string::npos;
    if (!found) BOOST_TEST_MESSAGE("the error says: " << error.what());
    return found;
  };
}

}  // namespace actorflow::test
