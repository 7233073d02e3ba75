#include "dataflow/collectives/cost.h"

#include <boost/test/unit_test.hpp>

#include "test/dataflow/support/schedule_run.h"

BOOST_AUTO_TEST_SUITE(cost)

using namespace actorflow;

namespace {

const CostModel model{
    .host = {.latency = 30e-6, .per_message = 5e-6, .per_byte = 0.25e-9, .per_byte_of_port = 0},
    .network = {.latency = 100e-6, .per_message = 4e-6, .per_byte = 0.4e-9, .per_byte_of_port = 0.8e-9},
    .per_added_byte = 0.1e-9};

constexpr std::int64_t mib = std::int64_t{1} << 20;

HostRuns one_host(int ranks) {
  return host_runs(std::vector<std::string>(static_cast<std::size_t>(ranks), "a"));
}
// Ranks in turn on hosts; or those of each host follow each other.
HostRuns in_turn(int hosts, int ranks) {
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(std::to_string(rank % hosts));
  return host_runs(all);
}
HostRuns together(int hosts, int ranks) {
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(std::to_string(rank * hosts / ranks));
  return host_runs(all);
}
// Hosts of so many ranks, which follow each other.
HostRuns of_sizes(const std::vector<int>& sizes) {
  std::vector<std::string> all;
  for (std::size_t host = 0; host < sizes.size(); ++host)
    all.insert(all.end(), static_cast<std::size_t>(sizes[host]), std::to_string(host));
  return host_runs(all);
}

Algorithm choice(const HostRuns& hosts, std::int64_t bytes, double sum_growth = 1) {
  return choose_all_reduce(hosts, bytes, model, sum_growth).algorithm;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_formulas_are_the_times_of_the_schedules) {
  for (int ranks = 2; ranks <= 17; ++ranks)
    for (const std::int64_t bytes : {8, 100'000, 100'000'000})
      for (const auto algorithm : {Algorithm::direct, Algorithm::doubling, Algorithm::rabenseifner}) {
        test::ScheduleRun run({.ranks = ranks, .algorithm = algorithm}, static_cast<double>(bytes),
                              model);
        run.run();
        BOOST_TEST_CONTEXT(to_string(algorithm) << ", " << ranks << " ranks, " << bytes << " bytes")
        BOOST_TEST(all_reduce_seconds({algorithm}, one_host(ranks), bytes, model) == run.seconds(),
                   boost::test_tools::tolerance(1e-9));
      }
}

BOOST_AUTO_TEST_CASE(on_one_host_each_rank_sends_its_sum_to_all) {
  for (int ranks = 2; ranks <= 17; ++ranks)
    for (const std::int64_t bytes : {8, 100'000, 100'000'000}) {
      const AllReducePlan plan{Algorithm::hierarchical, ranks};
      test::ScheduleRun run(
          {.ranks = ranks, .algorithm = plan.algorithm, .chunks = plan.chunks, .hosts = {ranks}},
          static_cast<double>(bytes), model);
      run.run();
      BOOST_TEST_CONTEXT(ranks << " ranks, " << bytes << " bytes")
      BOOST_TEST(all_reduce_seconds(plan, one_host(ranks), bytes, model) == run.seconds(),
                 boost::test_tools::tolerance(1e-9));
    }
}

// Of 3 ranks, none both adds and passes results on, as the formula has it.
BOOST_AUTO_TEST_CASE(the_formula_of_sums_in_chunks_is_close_to_the_times_of_the_schedules) {
  for (const int ranks : {2, 4, 9})
    for (const int chunks : {1, 8, 64})
      for (const std::int64_t bytes : {100'000, 100'000'000}) {
        test::ScheduleRun ring({.ranks = ranks, .algorithm = Algorithm::ring, .chunks = chunks},
                               static_cast<double>(bytes), model);
        ring.run();
        BOOST_TEST_CONTEXT("a ring, " << ranks << " ranks, " << chunks << " chunks, " << bytes)
        BOOST_TEST(all_reduce_seconds({Algorithm::ring, chunks}, one_host(ranks), bytes, model) ==
                       ring.seconds(),
                   boost::test_tools::tolerance(0.25));
      }
}

BOOST_AUTO_TEST_CASE(the_fastest_algorithm_changes_at_the_crossover) {
  for (const int ranks : {4, 5, 8, 9, 100, 1000}) {
    const double n = crossover_bytes(ranks, model);
    BOOST_TEST((choice(one_host(ranks), static_cast<std::int64_t>(n * 0.99)) ==
                (ranks < 16 ? Algorithm::direct : Algorithm::doubling)));
    BOOST_TEST((choice(one_host(ranks), static_cast<std::int64_t>(n * 1.01)) ==
                (ranks < 16 ? Algorithm::hierarchical : Algorithm::rabenseifner)));
  }
}

// Two ranks send the same bytes either way: what is saved is half of the adding.
BOOST_AUTO_TEST_CASE(two_ranks_exchange_all_until_adding_takes_longer_than_a_message) {
  BOOST_TEST((choice(one_host(2), 8) == Algorithm::direct));
  BOOST_TEST((choice(one_host(2), 699'000) == Algorithm::direct));
  BOOST_TEST((choice(one_host(2), 701'000) == Algorithm::rabenseifner));
  BOOST_TEST(crossover_bytes(2, model) == 700'000.0, boost::test_tools::tolerance(1e-9));
}

// Adding and sending at once saves more than a second latency costs.
BOOST_AUTO_TEST_CASE(two_hosts_of_one_rank_are_a_ring_for_large_tensors) {
  BOOST_TEST((choice(together(2, 2), 4096) == Algorithm::direct));
  for (const std::int64_t bytes : {16 * mib, 1024 * mib}) {
    const AllReducePlan plan = choose_all_reduce(together(2, 2), bytes, model);
    BOOST_TEST((plan.algorithm == Algorithm::ring));
    BOOST_TEST(plan.chunks >= 16);
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_share_ports_send_one_sum_a_host) {
  for (const int hosts : {2, 4, 8})
    for (const std::int64_t bytes : {mib, 16 * mib})
      BOOST_TEST((choice(together(hosts, 8 * hosts), bytes) == Algorithm::hierarchical));
  // Of 16 bits, whose unfinished sums are float32.
  BOOST_TEST((choice(together(2, 16), 16 * mib, 2) == Algorithm::hierarchical));
}

// The sum would cross the network once for each rank.
BOOST_AUTO_TEST_CASE(hosts_whose_ranks_do_not_follow_each_other_are_no_hierarchy) {
  for (const std::int64_t bytes : {std::int64_t{4096}, mib, 128 * mib})
    BOOST_TEST((choice(in_turn(2, 16), bytes) != Algorithm::hierarchical));
}

// A rank alone on its host passes all on, sums and results; as the last of two hosts' ring it has no
// results to pass on.
BOOST_AUTO_TEST_CASE(a_small_host_is_the_slowest) {
  BOOST_TEST((choice(of_sizes({8, 1}), 16 * mib) == Algorithm::ring));
  BOOST_TEST((choice(of_sizes({8, 8, 1}), 16 * mib) == Algorithm::ring));
  for (const auto& sizes : {std::vector{1, 8}, {8, 4}, {4, 8}})
    BOOST_TEST((choice(of_sizes(sizes), 16 * mib) == Algorithm::hierarchical));
}

BOOST_AUTO_TEST_CASE(each_rank_of_a_host_has_as_many_chunks_as_the_others) {
  for (const std::int64_t bytes : {std::int64_t{8}, mib, 1024 * mib})
    BOOST_TEST(plan_all_reduce(Algorithm::hierarchical, together(3, 9), bytes, model).chunks % 3 == 0);
}

BOOST_AUTO_TEST_SUITE_END()
