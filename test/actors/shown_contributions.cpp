// Small all-reduces of ranks that share memory: each has a port of its own.
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/collectives/communicator.h"
#include "actors/collectives/engine/rank_group.h"
#include "actors/probes/point.h"
#include "actors/runtime/threaded_runtime.h"
#include "actors/task/server.h"
#include "test/actors/support/failing_memory.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(shown_contributions)

using namespace actorflow;
using test::contribution, test::serial, test::status_of;

namespace {

constexpr int size = 3;
constexpr std::chrono::microseconds longest_spin{10'000};

void prepare_nothing(int, ServerOptions&, CommunicatorOptions&) {}

// What comes of body on a thread for each rank. `prepare` may change a rank's options.
template <class Body, class Prepare>
std::array<Status, size> outcomes(Body body, Prepare prepare) {
  ServerOptions options;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < size; ++rank) addresses.push_back(test::free_address());
  options.cluster = ClusterSpec{{"worker", addresses}};
  options.job = "worker";
  options.num_threads = 1;
  std::array<Status, size> failures;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank, options]() mutable {
      failures[static_cast<std::size_t>(rank)] = status_of([&] {
        options.task = rank;
        // Some look for longer than others.
        CommunicatorOptions of_group{.spin = std::chrono::microseconds(1 + 50 * rank)};
        prepare(rank, options, of_group);
        Server server(options);
        const Communicator world(server, of_group);
        body(world);
        world.barrier();
      });
    });
  threads.clear();
  return failures;
}

// All ranks end well, and count nothing that is wrong.
template <class Body, class Prepare>
void on_ranks(Body body, Prepare prepare) {
  std::atomic<int> wrong = 0;
  const auto failures = outcomes([&](const Communicator& world) { body(world, wrong); }, prepare);
  for (const Status& failure : failures) BOOST_TEST(failure.ok(), failure.to_string());
  BOOST_TEST(wrong == 0);
}
template <class Body>
void on_ranks(Body body) {
  on_ranks(body, prepare_nothing);
}

// Uses of several names, whose sums are right whichever way they take.
void sum_small_tensors(const Communicator& world, std::atomic<int>& wrong) {
  const Shape shape{1000};
  for (int use = 0; use < 40; ++use)
    for (const char* name : {"a", "b", "c", "d"}) {
      const Tensor sum = world.all_reduce(contribution<float>(world.rank(), shape, use), {.name = name});
      if (!identical(sum, serial<float>(size, shape, use))) ++wrong;
    }
}

// Messages of these would be those of Rabenseifner's algorithm, by the usual costs.
void sum_480_kilobytes(const Communicator& world, std::atomic<int>& wrong, bool waits) {
  const Shape shape{120'000};
  for (int use = 0; use < 20; ++use) {
    const Tensor own = contribution<float>(world.rank(), shape, use);
    const Tensor sum =
        waits ? world.all_reduce(own, {.name = "x"}) : world.all_reduce_async(own, {.name = "x"}).wait();
    if (!identical(sum, serial<float>(size, shape, use))) ++wrong;
  }
}

void look_for_long(int, ServerOptions&, CommunicatorOptions& of_group) {
  of_group.costs = CostModel();
  of_group.spin = longest_spin;
}

void share_no_memory(ServerOptions& server) {
  server.runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1, .shared_memory = false});
}

std::uint64_t times_read() {
  return Point::take_all().at("what another rank shows is read in place of a message");
}
std::uint64_t times_at_a_glance() {
  return Point::take_all().at("a call is made on its own thread from what all ranks show");
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_use_has_its_own_bits) {
  Point::take_all();
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    const Shape shape{1000};
    for (int use = 0; use < 300; ++use) {
      const Tensor own = contribution<float>(world.rank(), shape, use);
      // Some wait, and others do not.
      const Tensor sum = (use + world.rank()) % 7 == 0
                             ? world.all_reduce_async(own, {.name = "x"}).wait()
                             : world.all_reduce(own, {.name = "x"});
      if (!identical(sum, serial<float>(size, shape, use))) ++wrong;
    }
  });
  BOOST_TEST(times_read() > 0u);
}

// Each call waits.
BOOST_AUTO_TEST_CASE(calls_go_past_the_actor) {
  times_at_a_glance();
  on_ranks(sum_small_tensors,
           [](int, ServerOptions&, CommunicatorOptions& of_group) { of_group.spin = longest_spin; });
  BOOST_TEST(times_at_a_glance() > 0u);
}

// The last rank begins it when the others have tried the next.
BOOST_AUTO_TEST_CASE(a_call_that_was_begun_before_comes_first) {
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    const Shape shape{100};
    const Tensor own = contribution<float>(world.rank(), shape, 1);
    for (int round = 0; round < 20; ++round) {
      for (int use = 0; use < 10; ++use) world.all_reduce(own, {.name = "x"});
      const bool is_last = world.rank() == size - 1;
      if (is_last) world.barrier();
      const auto begun =
          world.all_reduce_async(contribution<float>(world.rank(), shape, 2), {.name = "x"});
      if (!is_last) {
        const Status next = status_of([&] { world.all_reduce(own, {.name = "x"}); });
        if (next.code != Code::failed_precondition) ++wrong;
        world.barrier();
      }
      if (!identical(begun.wait(), serial<float>(size, shape, 2))) ++wrong;
    }
  });
}

BOOST_AUTO_TEST_CASE(a_rank_joins_while_the_others_go_on) {
  times_at_a_glance();
  on_ranks(
      [](const Communicator& world, std::atomic<int>& wrong) {
        const Shape shape{100};
        for (int round = 0; round < 5; ++round) {
          for (int use = 0; use < 30 + 10 * world.rank(); ++use) {
            const Tensor sum =
                world.all_reduce(Tensor::of<float>(shape, std::vector<float>(100, 1)), {.name = "x"});
            int there = 0;
            for (int rank = 0; rank < size; ++rank) there += use < 30 + 10 * rank ? 1 : 0;
            for (const float value : sum.values<float>())
              if (value != static_cast<float>(there)) ++wrong;
          }
          if (world.join() != size - 1) ++wrong;
        }
      },
      [](int, ServerOptions&, CommunicatorOptions& of_group) { of_group.spin = longest_spin; });
  BOOST_TEST(times_at_a_glance() > 0u);
}

BOOST_AUTO_TEST_CASE(a_rank_that_leaves_is_named) {
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    const Communicator some = world.subset({0, 1, 2});
    const Tensor own = contribution<float>(world.rank(), {100}, 1);
    for (int use = 0; use < 100; ++use) some.all_reduce(own, {.name = "x"});
    if (world.rank() == 1) return;
    const Status status = status_of([&] { some.all_reduce(own, {.name = "x"}); });
    if (status.code != Code::failed_precondition || status.message.find("rank 1") == std::string::npos)
      ++wrong;
  });
}

// Without a copy; each goes when its call is over.
BOOST_AUTO_TEST_CASE(what_lies_in_shared_memory_is_read_where_it_is) {
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    const Shape shape{25'000};
    for (int use = 0; use < 200; ++use) {
      Tensor own = world.allocate(DType::float32, shape);
      const Tensor values = contribution<float>(world.rank(), shape, use);
      std::memcpy(own.mutable_data(), values.data(), values.size_bytes());
      const Tensor sum = (use + world.rank()) % 7 == 0
                             ? world.all_reduce_async(own, {.name = "x"}).wait()
                             : world.all_reduce(own, {.name = "x"});
      if (!identical(sum, serial<float>(size, shape, use))) ++wrong;
    }
  });
}

// By two ranks, where it lies and nowhere else; what lies elsewhere is sent.
BOOST_AUTO_TEST_CASE(what_is_too_large_for_a_page_is_read_where_it_is_and_let_go) {
  times_read();
  std::atomic<int> let_go = 0;
  on_ranks(
      [&](const Communicator& world, std::atomic<int>& wrong) {
        if (world.rank() == 2) return;
        const Communicator both = world.subset({0, 1});
        const Shape shape{2'200'003};
        Tensor before;
        for (int use = 0; use < 30; ++use) {
          const Tensor values = contribution<float>(both.rank(), shape, use);
          Tensor own = both.allocate(DType::float32, shape);
          std::memcpy(own.mutable_data(), values.data(), values.size_bytes());
          const bool lies_elsewhere = use > 0 && (use + both.rank()) % 7 == 0;
          const Tensor sum = both.all_reduce(lies_elsewhere ? values : own, {.name = "x"});
          if (!identical(sum, serial<float>(2, shape, use))) ++wrong;
          both.barrier();
          if (before.valid() && before.buffer().exclusive()) ++let_go;
          before = own;
        }
      },
      [](int, ServerOptions&, CommunicatorOptions& of_group) { of_group.spin = longest_spin; });
  BOOST_TEST(times_read() > 0u);
  BOOST_TEST(let_go > 0);
}

BOOST_AUTO_TEST_CASE(a_name_may_be_used_otherwise_than_before) {
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    for (int use = 0; use < 120; ++use) {
      const Shape shape{use / 20 % 2 == 0 ? 1000 : 70};
      const Tensor sum = world.all_reduce(contribution<float>(world.rank(), shape, use), {.name = "x"});
      if (!identical(sum, serial<float>(size, shape, use))) ++wrong;
    }
  });
}

BOOST_AUTO_TEST_CASE(it_goes_on_after_ranks_have_differed) {
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    const Shape shape{1000};
    for (int use = 0; use < 60; ++use) {
      const bool differs = use % 20 == 15;
      const Tensor own = contribution<float>(world.rank(), shape, use);
      Tensor sum;
      const Status status = status_of([&] {
        sum = world.all_reduce(differs && world.rank() == 1 ? Tensor{1} : own, {.name = "x"});
      });
      const bool as_expected = differs ? status.code == Code::invalid_argument
                                       : status.ok() && identical(sum, serial<float>(size, shape, use));
      if (!as_expected) ++wrong;
    }
  });
}

// The pages of four names are more than the limit.
BOOST_AUTO_TEST_CASE(pages_take_nothing_of_what_a_rank_may_receive) {
  times_read();
  on_ranks(
      [](const Communicator& world, std::atomic<int>& wrong) {
        sum_small_tensors(world, wrong);
        const Tensor large = contribution<float>(0, {23'000}, 1);
        if (!identical(world.broadcast(large, 0), large)) ++wrong;
      },
      [](int, ServerOptions& server, CommunicatorOptions&) {
        server.max_incoming_bytes = 100'000;
        server.full_window_timeout_ms = 1000;
      });
  BOOST_TEST(times_read() > 0u);
}

BOOST_AUTO_TEST_CASE(a_rank_that_may_receive_no_page_gets_messages) {
  times_read();
  on_ranks(sum_small_tensors, [](int rank, ServerOptions& server, CommunicatorOptions&) {
    if (rank == 1) server.max_incoming_bytes = 20'000;
  });
  BOOST_TEST(times_read() > 0u);
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_look_gets_messages) {
  times_read();
  on_ranks(sum_small_tensors, [](int rank, ServerOptions&, CommunicatorOptions& of_group) {
    of_group.algorithm = Algorithm::direct;
    if (rank == 1) of_group.spin = std::chrono::microseconds(0);
  });
  BOOST_TEST(times_read() > 0u);
}

BOOST_AUTO_TEST_CASE(a_rank_without_shared_memory_gets_messages) {
  times_read();
  on_ranks(sum_small_tensors, [](int rank, ServerOptions& server, CommunicatorOptions& of_group) {
    of_group.algorithm = Algorithm::direct;
    if (rank == 1) share_no_memory(server);
  });
  BOOST_TEST(times_read() > 0u);
}

// The others come when it has shown its values: they may have added them by then.
BOOST_AUTO_TEST_CASE(a_call_that_lacks_memory_after_it_was_shown_is_not_made_with_other_values) {
  const Shape shape{1000};
  int given_up = 0;
  for (std::uint64_t n = 1; n <= 8; ++n) {
    std::array<Tensor, size> sums;
    const auto failures = outcomes(
        [&](const Communicator& world) {
          const auto sum_of = [&](int use) {
            return world.all_reduce(contribution<float>(world.rank(), shape, use), {.name = "x"});
          };
          for (int use = 0; use < 20; ++use) sum_of(use);
          Tensor& sum = sums[static_cast<std::size_t>(world.rank())];
          if (world.rank() == 1) {
            const Tensor own = contribution<float>(1, shape, 20);
            test::fail_allocation(n);
            try {
              sum = world.all_reduce(own, {.name = "x"});
            } catch (const std::exception&) {
            }
            test::fail_allocation(0);
            if (!sum.valid()) sum = sum_of(1000);
          } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            sum = sum_of(20);
          }
        },
        prepare_nothing);
    given_up += !failures[1].ok();
    for (const int other : {0, 2})
      if (const Tensor& theirs = sums[static_cast<std::size_t>(other)];
          theirs.valid() && sums[1].valid())
        BOOST_TEST(identical(theirs, sums[1]), "allocation " << n);
  }
  BOOST_TEST(given_up > 0);
}

BOOST_AUTO_TEST_CASE(what_ranks_wait_for_is_shown_whatever_messages_would_cost) {
  for (const bool waits : {true, false}) {
    times_read();
    on_ranks([waits](const Communicator& world,
                     std::atomic<int>& wrong) { sum_480_kilobytes(world, wrong, waits); },
             look_for_long);
    BOOST_TEST((times_read() > 0) == waits);
  }
}

BOOST_AUTO_TEST_CASE(what_one_rank_cannot_show_is_sent_as_messages_cost) {
  times_read();
  on_ranks(
      [](const Communicator& world, std::atomic<int>& wrong) { sum_480_kilobytes(world, wrong, true); },
      [](int rank, ServerOptions& server, CommunicatorOptions& of_group) {
        look_for_long(rank, server, of_group);
        if (rank == 1) share_no_memory(server);
      });
  BOOST_TEST(times_read() == 0u);
}

// Those for which there is no room on boards get messages, and all are told the same.
BOOST_AUTO_TEST_CASE(names_may_be_more_than_boards_have_room_for) {
  std::uint64_t read_of_first = 0, read_of_last = 0;
  const auto use_names = [](const Communicator& world, int first, int last, std::atomic<int>& wrong) {
    const Shape shape{200'000};
    for (int use = 0; use < 3; ++use)
      for (int name = first; name < last; ++name) {
        const Tensor sum = world.all_reduce(contribution<float>(world.rank(), shape, use + name),
                                            {.name = std::to_string(name)});
        if (!identical(sum, serial<float>(size, shape, use + name))) ++wrong;
      }
    world.barrier();
  };
  const auto count_on_one = [](const Communicator& world, std::uint64_t& count) {
    if (world.rank() == 0) count = times_read();
    world.barrier();
  };
  on_ranks(
      [&](const Communicator& world, std::atomic<int>& wrong) {
        std::uint64_t of_all = 0;
        use_names(world, 0, 30, wrong);  // a page takes 3.2 MB of 64 MiB
        count_on_one(world, of_all);
        use_names(world, 25, 30, wrong);
        count_on_one(world, read_of_last);
        use_names(world, 0, 5, wrong);
        count_on_one(world, read_of_first);
      },
      [](int, ServerOptions&, CommunicatorOptions& of_group) { of_group.spin = longest_spin; });
  BOOST_TEST(read_of_first > 0u);
  BOOST_TEST(read_of_last == 0u);
}

BOOST_AUTO_TEST_CASE(many_names_are_in_flight_together) {
  on_ranks([](const Communicator& world, std::atomic<int>& wrong) {
    const Shape shape{100};
    for (int use = 0; use < 20; ++use) {
      std::vector<CollectiveHandle> sums;
      for (int name = 0; name < 30; ++name)
        sums.push_back(world.all_reduce_async(contribution<float>(world.rank(), shape, use + name),
                                              {.name = std::to_string(name)}));
      for (int name = 0; name < 30; ++name)
        if (!identical(sums[static_cast<std::size_t>(name)].wait(),
                       serial<float>(size, shape, use + name)))
          ++wrong;
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
