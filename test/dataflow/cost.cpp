#include "dataflow/collectives/cost.h"

#include <boost/test/unit_test.hpp>

#include "test/dataflow/support/schedule_run.h"

using namespace actorflow;

namespace {

const CostModel model{
    .latency = 30e-6, .per_message = 5e-6, .per_byte = 0.25e-9, .per_added_byte = 0.1e-9};

}  // namespace

BOOST_AUTO_TEST_SUITE(cost)

BOOST_AUTO_TEST_CASE(the_formulas_are_the_times_of_the_schedules) {
  for (int ranks = 2; ranks <= 17; ++ranks)
    for (const std::int64_t bytes : {8, 100'000, 100'000'000})
      for (const auto algorithm : {Algorithm::direct, Algorithm::doubling, Algorithm::rabenseifner}) {
        test::ScheduleRun run({.ranks = ranks, .algorithm = algorithm}, static_cast<double>(bytes),
                              model);
        run.run();
        BOOST_TEST_CONTEXT(to_string(algorithm) << ", " << ranks << " ranks, " << bytes << " bytes")
        BOOST_TEST(all_reduce_seconds(algorithm, ranks, bytes, model) == run.seconds(),
                   boost::test_tools::tolerance(1e-9));
      }
}

BOOST_AUTO_TEST_CASE(the_fastest_algorithm_changes_at_the_crossover) {
  for (const int ranks : {4, 5, 8, 9, 100, 1000}) {
    const double n = crossover_bytes(ranks, model);
    BOOST_TEST((choose_all_reduce(ranks, static_cast<std::int64_t>(n * 0.99), model) ==
                (ranks < 16 ? Algorithm::direct : Algorithm::doubling)));
    BOOST_TEST((choose_all_reduce(ranks, static_cast<std::int64_t>(n * 1.01), model) ==
                Algorithm::rabenseifner));
  }
}

// Two ranks send the same bytes either way: what is saved is half of the adding.
BOOST_AUTO_TEST_CASE(two_ranks_exchange_all_until_adding_takes_longer_than_a_message) {
  BOOST_TEST((choose_all_reduce(2, 8, model) == Algorithm::direct));
  BOOST_TEST((choose_all_reduce(2, 699'000, model) == Algorithm::direct));
  BOOST_TEST((choose_all_reduce(2, 701'000, model) == Algorithm::rabenseifner));
  BOOST_TEST(crossover_bytes(2, model) == 700'000.0, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()
