// Tests on machines of their own (apps/rehearsal/lan.h).
#pragma once

#include <boost/test/unit_test.hpp>

#include "apps/rehearsal/lan.h"

namespace actorflow::test {

// A precondition of cases and suites with machines: they are skipped, with a message, if the kernel or
// our rights do not allow any.
inline boost::test_tools::assertion_result has_machines(boost::unit_test::test_unit_id) {
  static const std::string why = Lan::why_none();
  boost::test_tools::assertion_result result(why.empty());
  result.message() << "no machines here, this needs root and TUN devices: " << why;
  return result;
}

}  // namespace actorflow::test
