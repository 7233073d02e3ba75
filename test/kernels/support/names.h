// What an error of a kernel or a shape function must say.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string_view>

#include "dataflow/values/error.h"

namespace actorflow::test {

// An invalid_argument whose message has this in it.
inline bool names(const Error& error, std::string_view text) {
  BOOST_TEST_INFO(error.what());
  return error.code() == Code::invalid_argument &&
         std::string_view(error.what()).find(text) != std::string_view::npos;
}

}  // namespace actorflow::test
