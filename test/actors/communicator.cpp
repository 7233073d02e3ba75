// Collective operations of ranks in one process.
#include "actors/collectives/communicator.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "dataflow/collectives/cost.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"
#include "test/support/says.h"

using namespace actorflow;
using namespace std::chrono_literals;
using test::contribution, test::Ranks, test::says, test::serial, test::status_of;

namespace {

// Boost's checks are for one thread: ranks count what is wrong.
class Wrong {
 public:
  void unless(bool holds) { count_ += holds ? 0 : 1; }
  ~Wrong() { BOOST_TEST(count_ == 0); }

 private:
  std::atomic<int> count_{0};
};

constexpr Algorithm algorithms[] = {Algorithm::direct, Algorithm::doubling, Algorithm::rabenseifner,
                                    Algorithm::ring};

void check(const Status& status, Code code, const std::string& text) {
  BOOST_TEST((status.code == code), status.to_string());
  BOOST_TEST(status.message.find(text) != std::string::npos, status.to_string());
}

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

Tensor rows_of(int rank, std::int64_t rows) {
  return Tensor::of<std::int64_t>({rows, 2},
                                  std::vector<std::int64_t>(static_cast<std::size_t>(2 * rows), rank));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(communicator)

// The tasks of a LocalCluster have an address each.
BOOST_AUTO_TEST_CASE(ranks_have_their_numbers) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    wrong.unless(world.size() == 3 && world.place() == RankPlace{world.rank(), 0, world.rank(), 1, 3});
    wrong.unless(identical(world.all_gather(Tensor{world.rank()}), Tensor{0, 1, 2}));
  });
}

BOOST_AUTO_TEST_CASE(every_sum_has_the_bits_of_a_serial_loop) {
  expect_sums(ReduceCompression::none,
              [](int size, const Shape& shape, int use) { return serial<float>(size, shape, use); });
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

BOOST_AUTO_TEST_CASE(every_dtype_but_strings_is_gathered_and_moved) {
  Wrong wrong;
  Ranks ranks(2);
  ranks.run([&](Communicator& world) {
    const auto check_dtype = [&]<class T>(T) {
      const std::string name(to_string(dtype_of<T>));
      const auto of = [](std::initializer_list<int> values) {
        std::vector<T> all;
        for (const int value : values) all.push_back(static_cast<T>(value));
        return Tensor::of<T>({std::ssize(all)}, all);
      };
      const Tensor own = world.rank() == 0 ? of({1, 2}) : of({3, 4});
      wrong.unless(identical(world.all_gather(own, {name + "/gather"}), of({1, 2, 3, 4})));
      wrong.unless(identical(world.broadcast(own, 1, {name + "/broadcast"}), of({3, 4})));
      wrong.unless(identical(world.all_to_all(own, {}, {name + "/all_to_all"}).tensor,
                             world.rank() == 0 ? of({1, 3}) : of({2, 4})));
    };
    check_dtype(std::int8_t{});
    check_dtype(std::int16_t{});
    check_dtype(std::uint8_t{});
    check_dtype(Float16{});
    check_dtype(BFloat16{});
    const Status status = status_of([&] { world.all_reduce(Tensor::of<std::int8_t>({1}, {1})); });
    wrong.unless(status.message.find("to reduce, got int8") != std::string::npos);
  });
}

BOOST_AUTO_TEST_CASE(a_tensor_in_memory_of_the_group_is_one_like_any_other) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    Tensor own = world.allocate(DType::float32, {2, 2});
    std::ranges::fill(own.mutable_values<float>(), static_cast<float>(world.rank() + 1));
    wrong.unless(identical(world.all_reduce(own), Tensor{{6.0F, 6.0F}, {6.0F, 6.0F}}));
    wrong.unless(identical(world.broadcast(own, 1), Tensor{{2.0F, 2.0F}, {2.0F, 2.0F}}));
  });
}

BOOST_AUTO_TEST_CASE(a_rank_alone_scales_too) {
  for (const auto algorithm : algorithms) {
    Ranks ranks(1, {.algorithm = algorithm});
    ranks.run([](Communicator& world) {
      BOOST_TEST(
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

BOOST_AUTO_TEST_CASE(gathers_take_a_different_number_of_rows_from_each_rank) {
  for (const auto algorithm : algorithms) {
    Wrong wrong;
    Ranks ranks(4, {.algorithm = algorithm});
    ranks.run([&](Communicator& world) {
      for (int use = 0; use < 3; ++use) {  // another number in each
        const auto gathered =
            world.all_gather_async(rows_of(world.rank(), world.rank() * use)).wait_for_rows();
        wrong.unless(gathered.rows == std::vector<std::int64_t>{0, use, 2 * use, 3 * use});
        wrong.unless(gathered.tensor.shape() == Shape{6 * use, 2});
        const auto values = gathered.tensor.values<std::int64_t>();
        for (int i = 0; i < 2 * use; ++i) wrong.unless(values[static_cast<std::size_t>(i)] == 1);
        for (int i = 6 * use; i < 12 * use; ++i) wrong.unless(values[static_cast<std::size_t>(i)] == 3);
      }
      wrong.unless(identical(world.all_gather(Tensor::of<std::uint8_t>({1}, {7}), {.name = "bytes"}),
                             Tensor::of<std::uint8_t>({4}, {7, 7, 7, 7})));
    });
  }
}

BOOST_AUTO_TEST_CASE(every_root_broadcasts_its_value) {
  Wrong wrong;
  Ranks ranks(5);
  ranks.run([&](Communicator& world) {
    for (int root = 0; root < 5; ++root) {
      const Tensor got = world.broadcast(contribution<double>(world.rank(), {9'001}), root);
      wrong.unless(identical(got, contribution<double>(root, {9'001})));
    }
  });
}

BOOST_AUTO_TEST_CASE(rows_are_scattered_unevenly) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    const Tensor sum = serial<float>(3, {5, 3});
    const Tensor part = world.reduce_scatter(contribution<float>(world.rank(), {5, 3}));
    const std::int64_t begin[] = {0, 2, 4, 5};
    const auto rank = static_cast<std::size_t>(world.rank());
    wrong.unless(part.shape() == Shape{begin[rank + 1] - begin[rank], 3});
    for (std::int64_t i = 0; i < part.elements(); ++i)
      wrong.unless(part.values<float>()[static_cast<std::size_t>(i)] ==
                   sum.values<float>()[static_cast<std::size_t>(begin[rank] * 3 + i)]);
    wrong.unless(world.reduce_scatter(Tensor{1}, {.name = "one row"}).elements() == (rank == 0 ? 1 : 0));
  });
}

BOOST_AUTO_TEST_CASE(rows_go_to_any_rank_or_to_none) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    const int rank = world.rank();
    // Rank r sends r rows to each but itself.
    std::vector<std::int64_t> splits(3, rank);
    splits[static_cast<std::size_t>(rank)] = 0;
    const auto got = world.all_to_all(rows_of(rank, 2 * rank), splits);
    std::vector<std::int64_t> expected{0, 1, 2};
    expected[static_cast<std::size_t>(rank)] = 0;
    wrong.unless(got.rows == expected);
    wrong.unless(got.tensor.shape() == Shape{expected[0] + expected[1] + expected[2], 2});
    wrong.unless(world.all_to_all(rows_of(rank, 3)).tensor.shape() == Shape{3, 2});
  });
}

BOOST_AUTO_TEST_CASE(nobody_passes_a_barrier_before_all_are_there) {
  Wrong wrong;
  std::atomic<int> there = 0;
  Ranks ranks(4);
  ranks.run([&](Communicator& world) {
    for (int round = 1; round <= 20; ++round) {
      ++there;
      world.barrier();
      wrong.unless(there >= 4 * round);
      world.barrier();
    }
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

BOOST_AUTO_TEST_CASE(operations_in_flight_end_in_any_order) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    std::vector<CollectiveHandle> handles(50, world.all_reduce_async(Tensor{1}, {.name = "first"}));
    for (int i = 0; i < 50; ++i) {
      const int salt = world.rank() == 1 ? 49 - i : i;  // one rank begins with the last
      handles[static_cast<std::size_t>(salt)] = world.all_reduce_async(
          contribution<float>(world.rank(), {100}, salt), {.name = "x" + std::to_string(salt)});
    }
    for (int i = 0; i < 50; ++i)
      wrong.unless(identical(handles[static_cast<std::size_t>(i)].wait(), serial<float>(3, {100}, i)));
  });
}

BOOST_AUTO_TEST_CASE(a_name_in_flight_is_an_error_of_its_caller_only) {
  Wrong wrong;
  Ranks ranks(2);
  std::atomic<bool> tried = false;
  ranks.run([&](Communicator& world) {
    if (world.rank() == 1)
      while (!tried) std::this_thread::yield();
    const auto first = world.all_reduce_async(Tensor{1}, {.name = "x"});
    if (world.rank() == 0) {
      const Status status = status_of([&] { world.all_reduce(Tensor{1}, {.name = "x"}); });
      wrong.unless(status.code == Code::failed_precondition &&
                   status.message.find("'x' is in flight already") != std::string::npos);
      tried = true;
    }
    wrong.unless(identical(first.wait(), Tensor{2}));
    wrong.unless(identical(world.all_reduce(Tensor{1}, {.name = "x"}), Tensor{2}));
  });
}

BOOST_AUTO_TEST_CASE(ranks_that_differ_all_learn_both_values_and_go_on) {
  Ranks ranks(3);
  const auto differ = [&](const std::function<void(Communicator&, bool last)>& body,
                          const std::string& text) {
    std::vector<Status> wrong_after(3);
    const auto statuses = ranks.statuses([&](Communicator& world) {
      const auto rank = static_cast<std::size_t>(world.rank());
      for (int use = 0; use < 3; ++use) world.all_reduce(Tensor{1.0F}, {.name = "used before"});
      const Status status = status_of([&] { body(world, rank == 2); });
      wrong_after[rank] = status_of([&] { body(world, false); });
      throw_if_error(status);
    });
    for (const auto& status : statuses) check(status, Code::invalid_argument, text);
    for (const auto& status : wrong_after) BOOST_TEST(status.ok(), status.to_string());
  };
  const auto sum = [](Communicator& world, const Tensor& value, ReduceOptions options = {}) {
    if (options.name.empty()) options.name = "used before";
    world.all_reduce(value, options);
  };
  differ(
      [&](auto& world, bool last) {
        sum(world, last ? Tensor{1.0F, 2.0F} : Tensor{1.0F});
      },
      "has the shape [1], rank 2 the shape [2]");
  differ([&](auto& world, bool last) { last ? sum(world, Tensor{1}) : sum(world, Tensor{1.0F}); },
         "has the dtype float32, rank 2 the dtype int32");
  differ([&](auto& world, bool last) { sum(world, Tensor{1.0F}, {.prescale = last ? 0.5 : 1}); },
         "has the prescale 1, rank 2 the prescale 0.5");
  differ(
      [&](auto& world, bool last) {
        sum(world, Tensor{1}, {.name = "new", .reduction = last ? ReduceOp::max : ReduceOp::min});
      },
      "has the reduction min, rank 2 the reduction max");
  differ(
      [&](auto& world, bool last) { world.broadcast(Tensor{1}, last ? 1 : 0, {.name = "used before"}); },
      "has the root 0, rank 2 the root 1");
  differ([&](auto& world,
             bool last) { last ? world.barrier({.name = "used before"}) : sum(world, Tensor{1.0F}); },
         "has the operation all_reduce, rank 2 the operation barrier");
  differ(
      [&](auto& world, bool last) {
        world.all_to_all(rows_of(0, 3),
                         last ? std::vector<std::int64_t>{1, 1, 2} : std::vector<std::int64_t>{1, 1, 1});
      },
      "rank 2 (/job:worker/task:2): expected a split for each of 3 ranks, together 3 rows, got [1,1,2]");
  differ(
      [&](auto& world, bool last) {
        world.grouped_all_reduce(last ? std::vector<Tensor>{{1}, {2, 3}}
                                      : std::vector<Tensor>{{1, 2}, {3}});
      },
      "has the splits [2,1], rank 2 the splits [1,2]");
}

BOOST_AUTO_TEST_CASE(a_name_may_be_used_otherwise_when_all_do_so) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    for (const std::int64_t length : {3, 5, 5, 1'000, 3, 100'000, 3})
      wrong.unless(identical(world.all_reduce(contribution<float>(world.rank(), {length})),
                             serial<float>(3, {length})));
  });
}

BOOST_AUTO_TEST_CASE(ranks_without_data_add_zeros_until_all_have_none) {
  Wrong wrong;
  Ranks ranks(3);
  std::vector<int> last(6);
  ranks.run([&](Communicator& world) {
    const int rank = world.rank();
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (int step = 0; step <= rank; ++step) {  // rank 2 has most
        const int there = 3 - step;               // ranks that still have data
        const Tensor sum = world.all_reduce(Tensor{1.0F, 3.0F}, {.name = "sum"});
        const auto n = static_cast<float>(there);
        wrong.unless(identical(sum, Tensor{n, 3 * n}));
        const Tensor mean = world.all_reduce(
            Tensor{3.0F}, {.name = "mean" + std::to_string(step), .reduction = ReduceOp::average});
        wrong.unless(identical(mean, Tensor{n * 3.0F / 3}));
      }
      last[static_cast<std::size_t>(3 * epoch + rank)] = world.join();
    }
  });
  for (const int rank : last) BOOST_TEST(rank == 2);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_done_with_zeros_fails_when_a_rank_has_joined) {
  Ranks ranks(2);
  std::vector<Status> statuses(3);
  ranks.run([&](Communicator& world) {
    world.barrier();
    if (world.rank() == 1) {
      statuses[0] = status_of([&] { world.barrier(); });
      statuses[1] = status_of([&] { world.all_reduce(Tensor{1}, {.reduction = ReduceOp::max}); });
      statuses[2] = status_of([&] { world.all_gather(Tensor{1}); });
    }
    world.join();
  });
  for (const auto& status : statuses)
    check(status, Code::invalid_argument, "rank 0 (/job:worker/task:0) has no more data");
}

BOOST_AUTO_TEST_CASE(some_of_the_ranks_are_a_group_of_their_own) {
  Wrong wrong;
  Ranks ranks(4);
  ranks.run([&](Communicator& world) {
    if (world.rank() % 2 == 1) {
      const Communicator odd = world.subset({3, 1});
      wrong.unless(odd.size() == 2 && odd.rank() == (world.rank() == 3 ? 0 : 1));
      wrong.unless(identical(odd.all_gather(Tensor{world.rank()}), Tensor{3, 1}));
    }
    wrong.unless(identical(world.all_reduce(Tensor{1}), Tensor{4}));
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_has_left_is_named) {
  Ranks ranks(3);
  std::vector<Status> statuses(3), joins(3);
  ranks.on_threads([&](int rank) {
    {
      const Communicator world(ranks.server(rank));
      world.all_reduce(Tensor{1});
      if (rank != 2) {
        statuses[static_cast<std::size_t>(rank)] = status_of([&] { world.all_reduce(Tensor{1}); });
        joins[static_cast<std::size_t>(rank)] = status_of([&] { world.join(); });
      }
    }
  });
  for (const int rank : {0, 1})
    for (const auto& all : {statuses, joins})
      check(all[static_cast<std::size_t>(rank)], Code::failed_precondition,
            "has left the group");  // rank 2, or the other one after it
}

BOOST_AUTO_TEST_CASE(a_group_opens_anew_after_it_was_left) {
  Wrong wrong;
  Ranks ranks(3);
  for (int i = 0; i < 5; ++i)
    ranks.run(
        [&](Communicator& world) { wrong.unless(identical(world.all_reduce(Tensor{1}), Tensor{3})); });
}

BOOST_AUTO_TEST_CASE(a_group_has_the_same_ranks_everywhere) {
  Ranks ranks(3);
  std::vector<Status> statuses(3);
  ranks.on_threads([&](int rank) {
    CommunicatorOptions options;
    options.members = {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"};
    if (rank == 0) options.members.pop_back();
    if (rank == 0 || rank == 1)
      statuses[static_cast<std::size_t>(rank)] =
          status_of([&] { const Communicator world(ranks.server(rank), options); });
  });
  for (const int rank : {0, 1}) {
    check(statuses[static_cast<std::size_t>(rank)], Code::invalid_argument,
          "2 ranks on /job:worker/task:0");
    check(statuses[static_cast<std::size_t>(rank)], Code::invalid_argument, "3 on /job:worker/task:1");
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_do_not_come_are_waited_for_so_long_only) {
  Ranks ranks(2);
  BOOST_CHECK_EXCEPTION(Communicator(ranks.server(0), {.timeout = 50ms}), Error,
                        says("not all ranks have opened the group 'world' in 50 ms"));
  BOOST_CHECK_EXCEPTION(Communicator(ranks.server(0), {.members = {"/job:worker/task:1"}}), Error,
                        says("/job:worker/task:0 is not among the ranks"));
  BOOST_CHECK_EXCEPTION(Communicator(ranks.server(0), {.members = {"/job:worker/task:9"}}), Error,
                        says("task index 9 is outside"));
}

BOOST_AUTO_TEST_CASE(a_task_has_a_group_of_a_name_once) {
  Ranks ranks(1);
  ranks.run([&](Communicator& world) {
    BOOST_CHECK_EXCEPTION(Communicator second(ranks.server(0)), Error,
                          says("has a group 'world' already"));
    BOOST_TEST(identical(world.all_reduce(Tensor{3}), Tensor{3}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
