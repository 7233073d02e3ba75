// What tests of collective operations check.
#pragma once

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "dataflow/collectives/cost.h"
#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"

namespace actorflow::test {

// Boost's checks are for one thread: ranks count what is wrong.
class Wrong {
 public:
  void unless(bool holds) { count_ += holds ? 0 : 1; }
  ~Wrong() { BOOST_TEST(count_ == 0); }

 private:
  std::atomic<int> count_{0};
};

constexpr Algorithm algorithms[] = {Algorithm::direct, Algorithm::doubling, Algorithm::rabenseifner,
                                    Algorithm::ring, Algorithm::hierarchical};

inline void check(const Status& status, Code code, const std::string& text) {
  BOOST_TEST((status.code == code), status.to_string());
  BOOST_TEST(status.message.find(text) != std::string::npos, status.to_string());
}

// A tensor [rows, 2] of the rank's number.
inline Tensor rows_of(int rank, std::int64_t rows) {
  return Tensor::of<std::int64_t>({rows, 2},
                                  std::vector<std::int64_t>(static_cast<std::size_t>(2 * rows), rank));
}

}  // namespace actorflow::test
