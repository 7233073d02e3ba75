// Groups of ranks: how they open, divide and end.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "actors/collectives/communicator.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/says.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(collective_groups)

using namespace actorflow;
using namespace std::chrono_literals;
using test::check, test::Ranks, test::says, test::status_of, test::Wrong;

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

BOOST_AUTO_TEST_CASE(a_group_of_nobody_is_refused) {
  Ranks ranks(1);
  ranks.run([](Communicator& world) {
    BOOST_CHECK_EXCEPTION(world.subset({}), Error, says("expected one rank or more in a subset"));
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

BOOST_AUTO_TEST_CASE(a_group_has_the_same_hosts_everywhere) {
  for (const auto& others : {std::vector<std::string>{}, {"b", "b"}}) {
    Ranks ranks(2);
    std::vector<Status> statuses(2);
    ranks.on_threads([&](int rank) {
      CommunicatorOptions options;
      options.hosts = rank == 0 ? std::vector<std::string>{"a", "a"} : others;
      statuses[static_cast<std::size_t>(rank)] =
          status_of([&] { const Communicator world(ranks.server(rank), options); });
    });
    for (const Status& status : statuses)
      check(status, Code::invalid_argument, "give all ranks the same CommunicatorOptions::hosts");
    check(statuses[1], Code::invalid_argument, "(a a) by /job:worker/task:0");
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
  Wrong wrong;
  Ranks ranks(1);
  ranks.run([&](Communicator& world) {
    const Status second = status_of([&] { const Communicator again(ranks.server(0)); });
    wrong.unless(second.message.find("has a group 'world' already") != std::string::npos);
    wrong.unless(identical(world.all_reduce(Tensor{3}), Tensor{3}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
