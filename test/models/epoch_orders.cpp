// The order in which fit() goes through examples that it shuffles.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "actors/models/data/batches.h"
#include "actors/task/server.h"

BOOST_AUTO_TEST_SUITE(epoch_orders)

using namespace actorflow;

namespace {

std::vector<std::int64_t> order_of(const Server& server, std::uint64_t seed, int epoch) {
  const Tensor numbers =
      Tensor::of(Shape{12}, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  FitBatches batches(server, TrainingData(numbers, numbers),
                     {.batch_size = 12, .shuffle = true, .seed = seed});
  batches.begin_epoch(epoch, 0);
  const auto batch = batches.next();
  BOOST_REQUIRE(batch);
  const auto values = batch->at(0).values<std::int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

// Such as those of an ensemble's members.
BOOST_AUTO_TEST_CASE(neighbouring_seeds_share_no_order) {
  const Server server = Server::local();
  std::set<std::vector<std::int64_t>> orders;
  for (const std::uint64_t seed : {1, 2, 3})
    for (const int epoch : {1, 2, 3}) orders.insert(order_of(server, seed, epoch));
  BOOST_TEST(orders.size() == 9u);
  BOOST_TEST((order_of(server, 2, 3) == order_of(server, 2, 3)));
}

BOOST_AUTO_TEST_SUITE_END()
