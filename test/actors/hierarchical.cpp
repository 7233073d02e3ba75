// All-reduces whose sums travel from host to host: ranks in one process that are told to be on several.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "actors/collectives/communicator.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(hierarchical)

using namespace actorflow;
using test::contribution, test::Ranks, test::says, test::serial, test::Wrong;

namespace {

using Hosts = std::vector<std::string>;

// Hosts of so many ranks, which follow each other.
Hosts hosts_of(const std::vector<int>& sizes) {
  Hosts all;
  for (std::size_t host = 0; host < sizes.size(); ++host)
    all.insert(all.end(), static_cast<std::size_t>(sizes[host]), std::to_string(host));
  return all;
}

Ranks ranks_on(const Hosts& hosts) {
  return Ranks(static_cast<int>(hosts.size()), {.hosts = hosts, .algorithm = Algorithm::hierarchical});
}

void expect_sums(const Hosts& hosts) {
  Wrong wrong;
  Ranks ranks = ranks_on(hosts);
  const int size = static_cast<int>(hosts.size());
  ranks.run([&](Communicator& world) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 41, 5}, Shape{200'003}})
      for (int use = 0; use < 2; ++use)
        wrong.unless(identical(world.all_reduce(contribution<float>(world.rank(), shape, use),
                                                {.name = "x" + shape.to_string()}),
                               serial<float>(size, shape, use)));
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(hosts_of_any_numbers_of_ranks_give_the_bits_of_a_serial_loop) {
  const std::vector<std::vector<int>> layouts{{2},       {1, 1},    {1, 2},    {2, 1}, {4},
                                              {2, 2},    {3, 1},    {1, 1, 3}, {5, 1}, {3, 4},
                                              {2, 3, 2}, {1, 6, 1}, {4, 4},    {9},    {1, 3, 2, 3}};
  for (const auto& sizes : layouts) expect_sums(hosts_of(sizes));
}

BOOST_AUTO_TEST_CASE(so_do_hosts_whose_ranks_do_not_follow_each_other) {
  expect_sums({"a", "b", "a", "b"});
  expect_sums({"a", "a", "b", "a", "c", "b", "b"});
}

BOOST_AUTO_TEST_CASE(every_dtype_is_reduced_in_every_way) {
  const Shape shape{1000};
  Ranks ranks = ranks_on(hosts_of({2, 1, 2}));
  const auto check_dtype = [&]<class T>(T) {
    Wrong wrong;
    ranks.run([&](Communicator& world) {
      const Tensor own = contribution<T>(world.rank(), shape);
      const auto reduce = [&](ReduceOp op) { return world.all_reduce(own, {.reduction = op}); };
      wrong.unless(identical(reduce(ReduceOp::sum), serial<T>(5, shape)));
      wrong.unless(identical(reduce(ReduceOp::min),
                             serial<T>(5, shape, 0, [](T a, T b) { return std::min(a, b); })));
      wrong.unless(identical(reduce(ReduceOp::max),
                             serial<T>(5, shape, 0, [](T a, T b) { return std::max(a, b); })));
      const Tensor two{T(2), T(1)};
      wrong.unless(identical(world.all_reduce(two, {.name = "two", .reduction = ReduceOp::product}),
                             Tensor{T(32), T(1)}));
    });
  };
  check_dtype(std::int32_t{});
  check_dtype(std::int64_t{});
  check_dtype(float{});
  check_dtype(double{});
}

BOOST_AUTO_TEST_CASE(factors_and_averages_apply_once) {
  Wrong wrong;
  ranks_on(hosts_of({2, 2})).run([&](Communicator& world) {
    const Tensor own{1.0F * static_cast<float>(world.rank()), 2.0F};
    wrong.unless(identical(world.all_reduce(own, {.reduction = ReduceOp::average}), Tensor{1.5F, 2.0F}));
    wrong.unless(
        identical(world.all_reduce(own, {.prescale = 0.5, .postscale = 4}), Tensor{12.0F, 16.0F}));
  });
}

// Between hosts their sums travel in float32.
BOOST_AUTO_TEST_CASE(numbers_of_16_bits_are_rounded_once) {
  const Shape shape{10'007};
  for (const auto& sizes : {std::vector{2, 2}, {1, 2, 2}, {2, 1, 1}, {3, 2, 2}, {1, 1, 1, 1}, {5}}) {
    const int size = std::accumulate(sizes.begin(), sizes.end(), 0);
    Wrong wrong;
    ranks_on(hosts_of(sizes)).run([&](Communicator& world) {
      const Tensor brain = test::short_contribution<BFloat16>(world.rank(), shape),
                   half = test::short_contribution<Float16>(world.rank(), shape);
      wrong.unless(identical(world.all_reduce(brain), test::short_sum<BFloat16>(size, shape)));
      wrong.unless(identical(world.all_reduce(half, {.name = "half", .prescale = 0.5}),
                             test::short_sum<Float16>(size, shape, 0.5F)));
      wrong.unless(
          identical(world.all_reduce(contribution<float>(world.rank(), shape),
                                     {.name = "compressed", .compression = ReduceCompression::bfloat16}),
                    test::rounded_serial(size, shape)));
    });
  }
}

BOOST_AUTO_TEST_CASE(several_tensors_are_reduced_together) {
  Wrong wrong;
  ranks_on(hosts_of({2, 1})).run([&](Communicator& world) {
    const auto sums =
        world.grouped_all_reduce({contribution<float>(world.rank(), {300, 20}), Tensor{1, 2},
                                  contribution<float>(world.rank(), {5}, 1)});
    wrong.unless(sums.size() == 3 && identical(sums[0], serial<float>(3, {300, 20})));
    wrong.unless(identical(sums[1], Tensor{3, 6}) && identical(sums[2], serial<float>(3, {5}, 1)));
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_joined_adds_zeros) {
  Wrong wrong;
  ranks_on(hosts_of({1, 2, 1})).run([&](Communicator& world) {
    for (int step = 0; step <= world.rank(); ++step) {
      const float there = static_cast<float>(4 - step);
      wrong.unless(identical(world.all_reduce(Tensor{1.0F, 2.0F}), Tensor{there, 2 * there}));
    }
    wrong.unless(world.join() == 3);
  });
}

BOOST_AUTO_TEST_CASE(a_set_of_ranks_has_their_hosts) {
  Wrong wrong;
  ranks_on(hosts_of({2, 2})).run([&](Communicator& world) {
    wrong.unless(world.place() == RankPlace{world.rank(), world.rank() % 2, world.rank() / 2, 2, 2});
    if (world.rank() == 1) return;
    const Communicator some = world.subset({0, 2, 3});
    wrong.unless(some.local_size() == (world.rank() == 0 ? 1 : 2));
    wrong.unless(
        identical(some.all_reduce(contribution<float>(some.rank(), {1000})), serial<float>(3, {1000})));
  });
}

BOOST_AUTO_TEST_CASE(each_rank_has_a_host) {
  Ranks ranks(2);
  BOOST_CHECK_EXCEPTION(Communicator(ranks.server(0), {.hosts = {"a", "b", "c"}}), Error,
                        says("expected a host for each of 2 ranks, or none, got 3"));
}

BOOST_AUTO_TEST_SUITE_END()
