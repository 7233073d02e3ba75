// A precondition of tests that need a GPU: without one they are skipped.
#pragma once

#include <boost/test/unit_test.hpp>

#include "kernels/devices/device.h"

namespace actorflow::test {

inline boost::test_tools::assertion_result has_gpu(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(cuda_device_count() > 0);
  result.message() << "this machine or this build has no GPU";
  return result;
}

}  // namespace actorflow::test
