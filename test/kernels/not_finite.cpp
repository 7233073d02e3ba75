#include "kernels/update/finite.h"

#include <boost/test/unit_test.hpp>
#include <limits>

BOOST_AUTO_TEST_SUITE(not_finite)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(nan_and_infinity_are_counted) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr float max = std::numeric_limits<float>::max();
  BOOST_TEST(
      count_not_finite(Tensor::of<float>({5}, {1, infinity, -infinity, max, -max}), cpu_device()) == 2);
  BOOST_TEST(count_not_finite(Tensor::of<double>({3}, {nan, 0, -nan}), cpu_device()) == 2);
  BOOST_TEST(count_not_finite(Tensor::scalar(std::int32_t{7}), cpu_device()) == 0);
  BOOST_TEST(count_not_finite(Tensor::zeros(DType::float32, {0, 2}), cpu_device()) == 0);
}

BOOST_AUTO_TEST_CASE(every_part_of_a_large_tensor_is_looked_at) {
  Tensor large = Tensor::zeros(DType::float32, {300, 1000});
  for (const std::size_t place : {std::size_t{0}, std::size_t{65'536}, std::size_t{299'999}})
    large.mutable_values<float>()[place] = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(count_not_finite(large, cpu_device()) == 3);
}

BOOST_AUTO_TEST_CASE(indices_of_no_row_are_counted) {
  const Tensor indices = Tensor::of<std::int64_t>({5}, {0, 4, 5, -1, std::int64_t{1} << 40});
  const Tensor values = Tensor::of<float>({2}, {1, std::numeric_limits<float>::infinity()});
  const Tensor none = Tensor::zeros(DType::int64, {0});
  const std::vector<Suspect> suspects{{values, std::nullopt},
                                      {indices, 5},
                                      {indices, std::nullopt},
                                      {none, 0},
                                      {values, 5},
                                      {indices, 0}};
  BOOST_TEST(count_bad(suspects, cpu_device()) == (std::vector<std::int64_t>{1, 3, 0, 0, 1, 5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
