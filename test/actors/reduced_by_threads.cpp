// An all-reduce gives the same bits whatever the number of threads that add.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/collectives/communicator.h"
#include "dataflow/collectives/agreement.h"
#include "test/actors/support/rank_checks.h"
#include "test/actors/support/ranks.h"
#include "test/support/contributions.h"

BOOST_AUTO_TEST_SUITE(reduced_by_threads)

using namespace actorflow;
using test::algorithms, test::contribution, test::Ranks, test::short_contribution, test::Wrong;

namespace {

constexpr int ranks = 3;
// Several shares of a thread, the last of which is not whole.
const Shape large{300'007};

// What depends on the order in which it is added, multiplied or rounded.
std::vector<Tensor> reduce_in_every_way(Communicator& world) {
  const int rank = world.rank();
  const Tensor own = contribution<float>(rank, large);
  const auto reduced = [&](const std::string& name, ReduceOptions how, const Tensor& value) {
    how.name = name;
    return world.all_reduce(value, how);
  };
  return {
      reduced("sum", {}, own),
      reduced("small", {}, contribution<float>(rank, {41})),
      reduced("average", {.reduction = ReduceOp::average}, own),
      reduced("product", {.reduction = ReduceOp::product, .prescale = 1e-6}, own),
      reduced("scaled", {.prescale = 1.0 / 3, .postscale = 7}, own),
      reduced("float64", {}, contribution<double>(rank, large)),
      reduced("bfloat16", {}, short_contribution<BFloat16>(rank, large)),
      reduced("compressed", {.compression = ReduceCompression::bfloat16}, own),
  };
}

// What rank 0 gets. All others get the same bits.
std::vector<Tensor> results(Algorithm algorithm, int threads) {
  std::vector<std::vector<Tensor>> of_rank(ranks);
  Ranks world(ranks, {.algorithm = algorithm}, threads);
  world.run([&](Communicator& communicator) {
    of_rank[static_cast<std::size_t>(communicator.rank())] = reduce_in_every_way(communicator);
  });
  for (const auto& other : of_rank)
    for (std::size_t i = 0; i < other.size(); ++i) BOOST_TEST(identical(other[i], of_rank[0][i]));
  return of_rank[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_two_and_three_threads_give_the_same_bits) {
  for (const auto algorithm : algorithms) {
    const auto by_one = results(algorithm, 1);
    for (const int threads : {2, 3}) {
      const auto by_more = results(algorithm, threads);
      BOOST_TEST_REQUIRE(by_more.size() == by_one.size());
      for (std::size_t i = 0; i < by_one.size(); ++i)
        BOOST_TEST(identical(by_more[i], by_one[i]), to_string(algorithm)
                                                         << ", " << threads << " threads, result " << i);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
