// All-reduces of ranks that may hold less of each other's memory than the tensor has.
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>
#include <vector>

#include "actors/collectives/communicator.h"
#include "actors/task/server.h"
#include "test/support/contributions.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(narrow_ranks)

using namespace actorflow;
using test::contribution, test::serial, test::status_of;

namespace {

constexpr int size = 4;
constexpr std::size_t limit_bytes = 15'000'000;
const Shape shape{4'000'000};

// Sums a tensor of 16 MB on two hosts of two ranks.
void expect_sum(Algorithm algorithm) {
  ServerOptions options;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < size; ++rank) addresses.push_back(test::free_address());
  options.cluster = ClusterSpec{{"worker", addresses}};
  options.job = "worker";
  options.num_threads = 1;
  options.max_incoming_bytes = limit_bytes;
  options.full_window_timeout_ms = 3'000;
  const Tensor expected = serial<float>(size, shape);
  std::array<bool, size> right{};
  std::array<Status, size> failures;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank, options]() mutable {
      const auto own = static_cast<std::size_t>(rank);
      failures[own] = status_of([&] {
        options.task = rank;
        Server server(options);
        const Communicator world(server, {.hosts = {"a", "a", "b", "b"}, .algorithm = algorithm});
        right[own] = identical(world.all_reduce(contribution<float>(rank, shape)), expected);
        world.barrier();
      });
    });
  threads.clear();
  for (const Status& failure : failures) BOOST_TEST(failure.ok(), failure.to_string());
  for (const bool is_right : right) BOOST_TEST(is_right);
}

}  // namespace

// A rank of a host sends another one its contribution, and later its sums: together the whole tensor.
BOOST_AUTO_TEST_CASE(a_hierarchical_sum_gives_back_what_it_has_added) {
  expect_sum(Algorithm::hierarchical);
}

BOOST_AUTO_TEST_CASE(so_do_the_others) {
  expect_sum(Algorithm::ring);
  expect_sum(Algorithm::rabenseifner);
}

BOOST_AUTO_TEST_SUITE_END()
