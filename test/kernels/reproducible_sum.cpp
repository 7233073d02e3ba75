#include "kernels/update/reproducible_sum.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/loops/vectorised.h"
#include "test/kernels/support/teams.h"

BOOST_AUTO_TEST_SUITE(reproducible_sum)

using namespace actorflow;

namespace {

// Numbers of all sizes that a gradient may have, zeros and denormal ones among them.
template <class T>
Tensor numbers(std::int64_t elements, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Tensor tensor = Tensor::zeros(dtype_of<T>, {elements});
  const double power = std::numeric_limits<T>::max_exponent10 / 6.0;
  for (T& x : tensor.mutable_values<T>()) {
    if (bits() % 16 == 0) continue;
    x = static_cast<T>(normal(bits) * std::pow(10.0, power * normal(bits)));
    if (bits() % 16 == 0) x = std::numeric_limits<T>::denorm_min() * static_cast<T>(bits() % 100);
    if (!std::isfinite(x)) x = std::numeric_limits<T>::max();
  }
  return tensor;
}

template <class T>
std::vector<Tensor> many_numbers(std::size_t tensors, std::int64_t elements) {
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < tensors; ++i) all.push_back(numbers<T>(elements, i + 1));
  return all;
}

Tensor mean_of(std::vector<Tensor> tensors, Team* team = nullptr) {
  ReproducibleSum sum;
  Tensor last = std::move(tensors.back());
  tensors.pop_back();
  for (const Tensor& tensor : tensors) sum.add(tensor, cpu_device(), team);
  return sum.mean(std::move(last), cpu_device(), team);
}

Tensor of_one(float value) { return Tensor::of<float>({1}, {value}); }

template <class T>
void check_orders() {
  auto tensors = many_numbers<T>(9, 1'000);
  const Tensor expected = mean_of(tensors);
  std::mt19937_64 bits(1);
  for (int order = 0; order < 20; ++order) {
    std::ranges::shuffle(tensors, bits);
    BOOST_TEST(identical(mean_of(tensors), expected));
  }
}

// Against sums in more digits than T has.
template <class T>
void check_error(double of_largest) {
  const auto tensors = many_numbers<T>(16, 1'000);
  const Tensor mean = mean_of(tensors);
  int worse = 0;
  for (std::size_t i = 0; i < 1'000; ++i) {
    long double total = 0, largest = 0;
    for (const Tensor& tensor : tensors) {
      const long double x = tensor.values<T>()[i];
      total += x;
      largest = std::max(largest, std::abs(x));
    }
    const long double exact = total / 16, error = std::abs(exact - mean.values<T>()[i]);
    const long double rounding = std::max<long double>(
        std::abs(exact) * std::numeric_limits<T>::epsilon() / 2, std::numeric_limits<T>::denorm_min());
    worse += error > rounding + largest * of_largest;
  }
  BOOST_TEST(worse == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_order_changes_a_bit) {
  check_orders<float>();
  check_orders<double>();
}

BOOST_AUTO_TEST_CASE(the_error_is_that_of_one_rounding) {
  check_error<float>(0x1p-32);
  check_error<double>(0x1p-60);  // what the long doubles of the test leave to be seen
}

BOOST_AUTO_TEST_CASE(numbers_of_all_sizes_find_their_bins) {
  constexpr float max = std::numeric_limits<float>::max(),
                  min = std::numeric_limits<float>::denorm_min();
  const auto mean = [](std::vector<float> values) {
    std::vector<Tensor> tensors;
    for (const float value : values) tensors.push_back(of_one(value));
    return mean_of(tensors).values<float>()[0];
  };
  BOOST_TEST(mean({max, max}) == max);
  BOOST_TEST(mean({-max, -max, -max}) == -max);
  BOOST_TEST(mean({max, -max}) == 0);
  BOOST_TEST(mean({min, min}) == min);
  BOOST_TEST(mean({0, -0.0F}) == 0);
  BOOST_TEST(mean({max, min}) == max / 2);
  BOOST_TEST(mean({1e8F, 1, -1e8F}) == 1.0F / 3);
  BOOST_TEST(mean({65535, 65537}) == 65536);
}

// Nothing of what is left may have been rounded before.
BOOST_AUTO_TEST_CASE(large_numbers_that_cancel_leave_the_small_ones) {
  const auto mean = [](std::vector<double> values) {
    std::vector<Tensor> tensors;
    for (const double value : values) tensors.push_back(Tensor::of<double>({1}, {value}));
    return mean_of(tensors).values<double>()[0];
  };
  BOOST_TEST(mean({0x1p-31, -0x1p-31 * (1 - 0x1p-53), 0x1p-86}) == (0x1p-84 + 0x1p-86) / 3);
  BOOST_TEST(mean({1, -1, 0x1p-60, 0x1p-60}) == 0x1p-61);
}

BOOST_AUTO_TEST_CASE(threads_and_instruction_sets_give_the_same_bits) {
  const auto tensors = many_numbers<float>(5, 200'000);
  const Tensor expected = mean_of(tensors);
  const InstructionSet used = instruction_set();
  for (const InstructionSet set : available_instruction_sets()) {
    use_instruction_set(set);
    BOOST_TEST(identical(mean_of(tensors), expected), to_string(set));
  }
  use_instruction_set(used);
  test::Backwards team;
  BOOST_TEST(identical(mean_of(tensors, &team), expected));
  BOOST_TEST(team.most_parts > 1);
}

BOOST_AUTO_TEST_CASE(the_last_tensor_may_be_missing_and_its_memory_is_used_if_it_can_be) {
  ReproducibleSum sum;
  sum.add(of_one(1), cpu_device());
  sum.add(of_one(4), cpu_device());
  BOOST_TEST(sum.mean({}, cpu_device()).values<float>()[0] == 2.5F);
  const Tensor held = of_one(4);
  BOOST_TEST(sum.mean(held, cpu_device()).values<float>()[0] == 3);
  BOOST_TEST(held.values<float>()[0] == 4);
  Tensor ours = of_one(4);
  const void* memory = ours.data();
  BOOST_TEST(sum.mean(std::move(ours), cpu_device()).data() == memory);
  BOOST_TEST(sum.count() == 2);
}

BOOST_AUTO_TEST_CASE(as_many_tensors_as_can_be_summed_and_no_more) {
  constexpr std::int64_t most = 32'766;
  const float value = 0x1.fffffep0F;  // all digits of its first bin
  ReproducibleSum sum;
  for (std::int64_t i = 0; i < most; ++i) sum.add(of_one(value), cpu_device());
  BOOST_TEST(sum.mean({}, cpu_device()).values<float>()[0] == value);
  BOOST_CHECK_EXCEPTION(sum.add(of_one(value), cpu_device()), Error, [](const Error& error) {
    return std::string(error.what()).find("at most 32766 tensors") != std::string::npos;
  });
  BOOST_TEST(sum.count() == most);
  BOOST_CHECK_THROW(sum.mean(of_one(value), cpu_device()), Error);
}

BOOST_AUTO_TEST_CASE(tensors_without_elements_and_of_other_types) {
  const Tensor empty = Tensor::zeros(DType::float32, {0, 2});
  BOOST_TEST(identical(mean_of({empty, empty}), empty));
  ReproducibleSum sum;
  BOOST_CHECK_THROW(sum.add(Tensor::scalar(std::int64_t{1}), cpu_device()), Error);
}

BOOST_AUTO_TEST_SUITE_END()
