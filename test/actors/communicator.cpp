// The communicator of ranks in one process: names of operations, ranks that differ, ranks without data.
#include "actors/collectives/communicator.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(communicator)

using namespace actorflow;
using test::check, test::contribution, test::Ranks, test::rows_of, test::serial, test::status_of,
    test::Wrong;

// The tasks of a LocalCluster have an address each.
BOOST_AUTO_TEST_CASE(ranks_have_their_numbers) {
  Wrong wrong;
  Ranks ranks(3);
  ranks.run([&](Communicator& world) {
    wrong.unless(world.size() == 3 && world.place() == RankPlace{world.rank(), 0, world.rank(), 1, 3});
    wrong.unless(identical(world.all_gather(Tensor{world.rank()}), Tensor{0, 1, 2}));
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

// The end of the one that has left is not the end of that group.
BOOST_AUTO_TEST_CASE(a_group_that_was_left_has_a_successor_of_its_name) {
  Wrong wrong;
  Ranks ranks(2);
  ranks.on_threads([&](int rank) {
    std::optional<Communicator> before(std::in_place, ranks.server(rank));
    before->barrier();
    before->abandon({Code::aborted, "this rank goes on without it"});
    const Status status = status_of([&] { before->barrier(); });
    wrong.unless(status.code == Code::failed_precondition &&
                 status.message.find("has no group") != std::string::npos);
    const Communicator after(ranks.server(rank));
    before.reset();
    wrong.unless(identical(after.all_reduce(Tensor{1}), Tensor{2}));
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

BOOST_AUTO_TEST_SUITE_END()
