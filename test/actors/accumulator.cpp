#include "actors/training/accumulator.h"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <span>

#include "kernels/devices/pool.h"

BOOST_AUTO_TEST_SUITE(accumulator)

using namespace actorflow;

namespace {

Tensor gradient(float value) { return Tensor::of<float>({1}, {value}); }
Accumulator::Gathered take(Accumulator& a) {
  auto all = a.gather(cpu_device(), nullptr);
  a.advance();
  return all;
}
float value(const Gradient& dense) { return dense.dense.values<float>()[0]; }
void add_merged(Accumulator& a, int replica, float value) {
  a.add(replica, {a.global_step(), 0}, gradient(value));
  a.merge(cpu_device(), nullptr);
}

// The CPU with memory of its own, all of whose use is seen.
class CountedDevice final : public Device {
 public:
  DeviceType type() const override { return DeviceType::cpu; }
  int index() const override { return 0; }
  Allocator& allocator() override { return pool_; }
  Tensor to_device(const Tensor& host) override { return host; }
  Tensor to_host(const Tensor& tensor) override { return tensor; }
  std::size_t bytes_in_use() const { return pool_.statistics().bytes_in_use; }

 private:
  Pool pool_{host_memory()};
};

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_are_taken_in_the_order_of_replicas_not_of_arrival) {
  Accumulator a;
  BOOST_TEST(a.add(2, {0, 0}, gradient(2)));
  BOOST_TEST(a.add(0, {0, 0}, gradient(0)));
  BOOST_TEST(a.add(1, {0, 0}, gradient(1)));
  const auto taken = take(a).gradients;
  BOOST_REQUIRE(taken.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(value(taken[i]) == static_cast<float>(i));
}

BOOST_AUTO_TEST_CASE(a_gradient_of_an_earlier_step_is_dropped_and_counted) {
  Accumulator a;
  a.add(0, {0, 0}, gradient(1));
  take(a);
  BOOST_TEST(a.global_step() == 1);
  BOOST_TEST(!a.add(1, {0, 0}, gradient(2)));
  BOOST_TEST(a.counts(1).stale == 1);
  BOOST_TEST(a.counts(0).stale == 0);
  BOOST_TEST(a.counts(0).counted == 1);
  BOOST_TEST(a.size() == 0);
  BOOST_TEST(a.add(1, {1, 0}, gradient(3)));
}

BOOST_AUTO_TEST_CASE(a_contribution_that_is_made_again_counts_once) {
  Accumulator a;
  BOOST_TEST(a.add(1, {4, 0}, gradient(1)));
  BOOST_TEST(a.add(1, {4, 0}, gradient(1)));
  BOOST_TEST(a.size() == 1);
  BOOST_TEST(a.counts(1).counted == 1);
  BOOST_TEST(a.counts(1).repeated == 1);
  BOOST_TEST(a.add(1, {4, 1}, gradient(2)));  // a second one of the same step
  BOOST_TEST(a.size() == 2);
  take(a);
  BOOST_TEST(a.add(1, {4, 0}, gradient(1)));  // it has counted, so it is not stale
  BOOST_TEST(a.counts(1).repeated == 2);
  BOOST_TEST(a.counts(1).stale == 0);
}

BOOST_AUTO_TEST_CASE(the_learning_rate_is_that_of_the_lowest_replica) {
  Accumulator a;
  a.add(1, {0, 0}, gradient(1), Tensor::scalar(0.25));
  a.add(0, {0, 0}, gradient(1), Tensor::scalar(0.5));
  BOOST_TEST(take(a).learning_rate.scalar<double>() == 0.5);
}

BOOST_AUTO_TEST_CASE(a_restored_run_goes_on_from_its_step) {
  Accumulator a;
  a.add(0, {500, 0}, gradient(1));
  a.add(1, {500, 0}, gradient(1));
  take(a);
  BOOST_TEST(a.global_step() == 501);
}

BOOST_AUTO_TEST_CASE(merged_gradients_have_one_mean_in_any_order) {
  constexpr std::array values{1e8F, 1.0F, -1e8F, 3.0F, 0.5F};
  constexpr float mean = 4.5F / 5;
  std::array order{0, 1, 2, 3, 4};
  do {
    Accumulator a;
    for (const int replica : std::span(order).first(4))
      add_merged(a, replica, values[static_cast<std::size_t>(replica)]);
    a.add(order[4], {0, 0}, gradient(values[static_cast<std::size_t>(order[4])]));
    const auto taken = take(a).gradients;
    BOOST_REQUIRE(taken.size() == 1);
    BOOST_REQUIRE(value(taken[0]) == mean);
  } while (std::ranges::next_permutation(order).found);
}

BOOST_AUTO_TEST_CASE(merged_gradients_take_no_more_memory_for_many_replicas) {
  constexpr std::int64_t elements = 1 << 18;
  constexpr std::size_t gradient_bytes = elements * sizeof(float);
  CountedDevice device;
  const auto filled = [&](int replica) {
    Tensor tensor = Tensor::allocate(DType::float32, {elements}, device.allocator());
    std::ranges::fill(tensor.mutable_values<float>(), static_cast<float>(replica));
    return tensor;
  };
  Accumulator a;
  for (int replica = 0; replica < 99; ++replica) {
    a.add(replica, {0, 0}, filled(replica));
    a.merge(device, nullptr);
    BOOST_TEST_REQUIRE(device.bytes_in_use() <= 4 * gradient_bytes);
  }
  a.add(99, {0, 0}, filled(99));
  {
    const auto all = a.gather(device, nullptr);
    BOOST_TEST(device.bytes_in_use() <= 5 * gradient_bytes);  // the mean is in the last one's memory
    BOOST_TEST(value(all.gradients.at(0)) == 49.5F);
  }
  a.advance();
  BOOST_TEST(device.bytes_in_use() == 0);
}

BOOST_AUTO_TEST_CASE(it_has_the_gradients_that_have_come_since_the_last_step) {
  Accumulator a;
  BOOST_TEST(!a.has(2));
  a.add(2, {0, 0}, gradient(1));
  a.add(2, {0, 1}, std::nullopt);
  a.add(2, {0, 1}, gradient(1));  // again
  BOOST_TEST(a.has(2));
  BOOST_TEST(!a.has(0));
  BOOST_TEST(!a.has(3));
  take(a);
  BOOST_TEST(!a.has(2));
  a.add(0, {0, 0}, gradient(1));  // stale
  BOOST_TEST(!a.has(0));
  a.add(0, {1, 0}, gradient(1));
  BOOST_TEST(a.has(0));
}

BOOST_AUTO_TEST_CASE(a_gradient_whose_update_failed_is_made_again) {
  Accumulator a;
  add_merged(a, 0, 1);
  const auto before = a.last(1);
  a.add(1, {0, 0}, gradient(3));
  a.gather(cpu_device(), nullptr);
  a.withdraw(before);
  BOOST_TEST(a.size() == 1);
  BOOST_TEST(!a.has(1));
  BOOST_TEST(a.counts(1).counted == 0);
  BOOST_TEST(a.add(1, {0, 0}, gradient(3)));
  BOOST_TEST(value(take(a).gradients.at(0)) == 2);
  add_merged(a, 0, 7);  // nothing is left of the step before
  a.add(1, {1, 0}, gradient(7));
  BOOST_TEST(value(take(a).gradients.at(0)) == 7);
}

BOOST_AUTO_TEST_CASE(gradients_that_are_not_finite_are_no_part_of_the_mean) {
  Accumulator a;
  a.add(0, {0, 0}, std::nullopt);
  a.merge(cpu_device(), nullptr);
  add_merged(a, 1, 1);
  add_merged(a, 2, 2);
  a.add(3, {0, 0}, std::nullopt);
  BOOST_TEST(a.size() == 4);
  const auto taken = take(a).gradients;
  BOOST_REQUIRE(taken.size() == 1);
  BOOST_TEST(value(taken[0]) == 1.5F);
}

BOOST_AUTO_TEST_CASE(a_single_finite_gradient_has_the_same_bits_wherever_it_comes) {
  for (int place = 0; place < 5; ++place) {
    Accumulator a;
    for (int replica = 0; replica < 5; ++replica) {
      a.add(replica, {0, 0}, replica == place ? std::optional<Gradient>(gradient(-0.0F)) : std::nullopt);
      if (replica < 4) a.merge(cpu_device(), nullptr);
    }
    const auto taken = take(a).gradients;
    BOOST_REQUIRE(taken.size() == 1);
    BOOST_TEST(identical(taken[0].dense, gradient(0)));
  }
}

BOOST_AUTO_TEST_CASE(gradients_that_were_kept_join_those_that_are_merged) {
  Accumulator a;
  a.add(0, {0, 0}, gradient(1));
  add_merged(a, 1, 2);
  a.add(2, {0, 0}, gradient(6));
  const auto taken = take(a).gradients;
  BOOST_REQUIRE(taken.size() == 1);
  BOOST_TEST(value(taken[0]) == 3);
}

BOOST_AUTO_TEST_SUITE_END()
