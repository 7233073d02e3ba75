// Replicas on threads of one process.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "actors/strategies/distribution.h"
#include "test/actors/support/little_room.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(replicas_on_threads)

using namespace actorflow;
using test::status_of;

namespace {

// A replica that ends when its server is told to.
std::function<void(int)> waiting_on(LocalCluster& cluster) {
  return [&cluster](int) {
    while (!cluster.server("worker", 0).stopping())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_that_cannot_begin_stops_the_others,
                     *boost::unit_test::precondition(test::room_can_be_little)) {
  LocalCluster cluster({{"worker", 1}});
  const auto replica = waiting_on(cluster);
  const test::LittleRoom room;
  const Status status = status_of([&] { run_on_threads(cluster, 2000, replica); });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  BOOST_TEST(status.message.find("each of 2000 replicas") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(what_is_no_error_of_ours_stops_the_others_too) {
  LocalCluster cluster({{"worker", 1}});
  const auto replica = waiting_on(cluster);
  BOOST_CHECK_THROW(run_on_threads(cluster, 2,
                                   [&](int task) {
                                     if (task == 1) throw 1;
                                     replica(task);
                                   }),
                    int);
}

BOOST_AUTO_TEST_SUITE_END()
