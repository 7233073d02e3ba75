// A check of the errors of kernels and shape functions.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string_view>

#include "dataflow/values/error.h"

namespace actorflow::test {

// True for an invalid_argument whose message contains the text.
inline bool names(const Error& error, std::string_view text) {
  BOOST_TEST_INFO(error.what());
  return error.code() == Code::invalid_argument &&
         std::string_view(error.what()).find(text) != std::string_view::npos;
}

}  // namespace actorflow::test
