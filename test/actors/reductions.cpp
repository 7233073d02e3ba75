// What reductions of ranks in one process give, by dtype, operation and algorithm.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "actors/collectives/communicator.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(reductions)

using namespace actorflow;
using test::algorithms, test::contribution, test::Ranks, test::serial, test::status_of, test::Wrong;

namespace {

// Of every algorithm and number of ranks, in the first use of a name and in a later one.
template <class Expected>
void expect_sums(ReduceCompression compression, Expected expected) {
  for (const auto algorithm : algorithms)
    for (const int size : {1, 2, 3, 5}) {
      Wrong wrong;
      Ranks ranks(size, {.algorithm = algorithm});
      ranks.run([&](Communicator& world) {
        for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 41, 5}, Shape{200'003}})
          for (int use = 0; use < 2; ++use) {
            const Tensor sum =
                world.all_reduce(contribution<float>(world.rank(), shape, use),
                                 {.name = "x" + shape.to_string(), .compression = compression});
            wrong.unless(identical(sum, expected(size, shape, use)));
          }
      });
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_sum_has_the_bits_of_a_serial_loop) {
  expect_sums(ReduceCompression::none,
              [](int size, const Shape& shape, int use) { return serial<float>(size, shape, use); });
}

// It is written past the cache; the shares of threads begin anywhere.
BOOST_AUTO_TEST_CASE(a_sum_that_no_cache_keeps_has_the_bits_of_a_serial_loop) {
  const Shape shape{2'100'003};
  Ranks ranks(2, {.algorithm = Algorithm::direct});
  Wrong wrong;
  ranks.run([&](Communicator& world) {
    const Tensor own = contribution<double>(world.rank(), shape, 1);
    wrong.unless(identical(world.all_reduce(own, {.name = "x"}), serial<double>(2, shape, 1)));
  });
}

BOOST_AUTO_TEST_CASE(a_sum_that_travels_as_bfloat16_has_the_same_bits_everywhere) {
  expect_sums(ReduceCompression::bfloat16, test::rounded_serial);
}

// Added in float32, rounded once: with every algorithm, also with a ring's, in place of which another is
// taken.
BOOST_AUTO_TEST_CASE(every_sum_of_16_bits_has_the_bits_of_a_serial_loop_that_rounds_at_the_end) {
  const auto check_dtype = []<class T>(T) {
    for (const auto algorithm : algorithms) {
      Wrong wrong;
      Ranks ranks(3, {.algorithm = algorithm});
      ranks.run([&](Communicator& world) {
        for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 41, 5}, Shape{200'003}}) {
          const Tensor own = test::short_contribution<T>(world.rank(), shape);
          const auto name = "x" + shape.to_string();
          wrong.unless(identical(world.all_reduce(own, {.name = name}), test::short_sum<T>(3, shape)));
          wrong.unless(identical(world.all_reduce(own, {.name = "third" + name, .prescale = 1.0 / 3}),
                                 test::short_sum<T>(3, shape, static_cast<float>(1.0 / 3))));
          if (shape.rank() == 0) continue;
          const Tensor part = world.reduce_scatter(own, {.name = "part" + name});
          wrong.unless(
              identical(world.all_gather(part, {.name = "all" + name}), test::short_sum<T>(3, shape)));
        }
      });
    }
  };
  check_dtype(Float16{});
  check_dtype(BFloat16{});
}

BOOST_AUTO_TEST_CASE(numbers_of_16_bits_are_reduced_in_every_way) {
  const auto check_dtype = []<class T>(T) {
    Wrong wrong;
    Ranks ranks(3);
    ranks.run([&](Communicator& world) {
      // 1, 2 and 4, and 256 + 1 + 1, which is 256 in bfloat16 if it is rounded on the way.
      const Tensor own{T(1 << world.rank()), T(world.rank() == 0 ? 256 : 1)};
      const auto reduced = [&](const ReduceOptions& how) {
        const Tensor result = world.all_reduce(own, how);
        return std::pair<float, float>(result.values<T>()[0], result.values<T>()[1]);
      };
      wrong.unless(reduced({}) == std::pair(7.0F, 258.0F));
      wrong.unless(reduced({.reduction = ReduceOp::average}) ==
                   std::pair<float, float>(T(7.0F / 3), 86));
      wrong.unless(reduced({.reduction = ReduceOp::min}) == std::pair(1.0F, 1.0F));
      wrong.unless(reduced({.reduction = ReduceOp::max}) == std::pair(4.0F, 256.0F));
      wrong.unless(reduced({.reduction = ReduceOp::product}) == std::pair(8.0F, 256.0F));
      wrong.unless(reduced({.prescale = 0.5, .postscale = 4}) == std::pair(14.0F, 516.0F));
      const T nan(std::numeric_limits<float>::quiet_NaN());
      for (const auto op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product})
        wrong.unless(std::isnan(
            world.all_reduce(Tensor{world.rank() == 1 ? nan : T(1)}, {.name = "nan", .reduction = op})
                .template values<T>()[0]));
      const Tensor large{T(6e4F)};
      const float sum = world.all_reduce(large, {.name = "large"}).template values<T>()[0];
      wrong.unless(std::isinf(sum) == std::is_same_v<T, Float16>);
    });
  };
  check_dtype(Float16{});
  check_dtype(BFloat16{});
}

BOOST_AUTO_TEST_CASE(a_rank_alone_scales_too) {
  for (const auto algorithm : algorithms) {
    Wrong wrong;
    Ranks ranks(1, {.algorithm = algorithm});
    ranks.run([&](Communicator& world) {
      wrong.unless(
          identical(world.all_reduce(Tensor{2.0F}, {.prescale = 0.5, .postscale = 4}), Tensor{4.0F}));
    });
  }
}

BOOST_AUTO_TEST_CASE(an_average_that_travels_as_bfloat16_is_scaled_before_it_is_rounded) {
  Wrong wrong;
  Ranks ranks(4);
  ranks.run([&](Communicator& world) {
    const ReduceOptions how{.reduction = ReduceOp::average,
                            .prescale = 0.5,
                            .postscale = 4,
                            .compression = ReduceCompression::bfloat16};
    const Tensor own{1.0F * static_cast<float>(world.rank()), 258.0F};
    wrong.unless(identical(world.all_reduce(own, how), Tensor{3.0F, 516.0F}));
    const Status status =
        status_of([&] { world.all_reduce(Tensor{1.0}, {.compression = ReduceCompression::bfloat16}); });
    wrong.unless(status.code == Code::invalid_argument &&
                 status.message.find("got float64") != std::string::npos);
  });
}

BOOST_AUTO_TEST_CASE(every_dtype_is_reduced_in_every_way) {
  const Shape shape{1000};
  Ranks ranks(3);
  const auto check_dtype = [&]<class T>(T) {
    Wrong wrong;
    ranks.run([&](Communicator& world) {
      const Tensor own = contribution<T>(world.rank(), shape);
      const auto reduce = [&](ReduceOp op) { return world.all_reduce(own, {.reduction = op}); };
      wrong.unless(identical(reduce(ReduceOp::sum), serial<T>(3, shape)));
      wrong.unless(identical(reduce(ReduceOp::min),
                             serial<T>(3, shape, 0, [](T a, T b) { return std::min(a, b); })));
      wrong.unless(identical(reduce(ReduceOp::max),
                             serial<T>(3, shape, 0, [](T a, T b) { return std::max(a, b); })));
      wrong.unless(identical(reduce(ReduceOp::product), serial<T>(3, shape, 0, [](T a, T b) {
                               using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
                               return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
                             })));
    });
  };
  check_dtype(std::int32_t{});
  check_dtype(std::int64_t{});
  check_dtype(float{});
  check_dtype(double{});
}

BOOST_AUTO_TEST_CASE(averages_and_scales_are_of_floating_point_numbers) {
  Wrong wrong;
  Ranks ranks(4);
  ranks.run([&](Communicator& world) {
    const Tensor own{1.0F * static_cast<float>(world.rank()), 2.0F};
    wrong.unless(identical(world.all_reduce(own, {.reduction = ReduceOp::average}), Tensor{1.5F, 2.0F}));
    wrong.unless(
        identical(world.all_reduce(own, {.prescale = 0.5, .postscale = 4}), Tensor{12.0F, 16.0F}));
    const Status status = status_of([&] {
      world.all_reduce(Tensor{1, 2}, {.reduction = ReduceOp::average});
    });
    wrong.unless(status.code == Code::invalid_argument);
  });
}

BOOST_AUTO_TEST_CASE(a_nan_stays_one) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    const float value = world.rank() == 1 ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
    for (const auto op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product})
      wrong.unless(std::isnan(world.all_reduce(Tensor{value}, {.reduction = op}).values<float>()[0]));
  });
}

BOOST_AUTO_TEST_CASE(several_tensors_are_reduced_together) {
  Wrong wrong;
  Ranks ranks(2);
  ranks.run([&](Communicator& world) {
    const auto sums = world.grouped_all_reduce({contribution<float>(world.rank(), {3, 2}), Tensor{1, 2},
                                                contribution<float>(world.rank(), {5}, 1)});
    wrong.unless(sums.size() == 3 && identical(sums[0], serial<float>(2, {3, 2})));
    wrong.unless(identical(sums[1], Tensor{2, 4}) && identical(sums[2], serial<float>(2, {5}, 1)));
  });
}

BOOST_AUTO_TEST_SUITE_END()
