// What ranks in one process gather, broadcast, scatter and send to each other.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/collectives/communicator.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(exchanges)

using namespace actorflow;
using test::algorithms, test::contribution, test::Ranks, test::rows_of, test::serial, test::status_of,
    test::Wrong;

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

BOOST_AUTO_TEST_SUITE_END()
