// The largest number as a timeout: programs mean "for ever" by it.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>

#include "actors/actorflow.h"
#include "dataflow/values/bounded_wait.h"
#include "test/support/ports.h"

using namespace actorflow;

BOOST_AUTO_TEST_SUITE(longest_waits)

namespace {

constexpr auto for_ever = std::chrono::milliseconds::max();

struct Ask {};
struct Answer {
  std::int64_t value = 0;
};

struct Slow : NamedActor {
  Slow() {
    on([](const Ask&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return Answer{7};
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(waits_of_a_century_stay_and_longer_ones_become_that) {
  const std::chrono::milliseconds century = std::chrono::hours(100 * 365 * 24);
  BOOST_TEST((bounded_wait(century) == century));
  BOOST_TEST((bounded_wait(century + std::chrono::milliseconds(1)) == century));
  BOOST_TEST((bounded_wait(for_ever) == century));
  BOOST_TEST(bounded_wait(std::int64_t{0}) == 0);
  BOOST_TEST(bounded_wait(std::int64_t{-5}) == -5);
  BOOST_TEST(bounded_wait(std::numeric_limits<std::int64_t>::min()) == -century.count());
}

BOOST_AUTO_TEST_CASE(steps_run) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {}, "x");
  Session s(g);
  const Feeds feeds{{x, Tensor::scalar<float>(3)}};
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(s.run(x, feeds, {.timeout_ms = for_ever.count()}).scalar<float>() == 3);
}

BOOST_AUTO_TEST_CASE(actors_are_waited_for) {
  Server server = Server::local();
  server.spawn("slow", [] { return std::make_unique<Slow>(); });
  const ActorRef slow = server.find("/job:local/task:0", "slow", {.patience = for_ever});
  slow.wait_until_there(for_ever);
  BOOST_TEST(slow.ask<Answer>(Ask{}, for_ever).get().value == 7);
  slow.tell(Ask{});
  slow.drain(for_ever);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_job_is_waited_for) {
  Server server = Server::local();
  std::jthread stops([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    server.stop("the test is over");
  });
  BOOST_TEST(server.join_for(for_ever.count()));
}

BOOST_AUTO_TEST_CASE(a_task_that_starts_late_is_waited_for) {
  const std::string address = test::free_address();
  ServerOptions options;
  options.cluster = ClusterSpec{{"worker", {address}}};
  options.job = "worker";
  options.connect_timeout_ms = options.heartbeat_timeout_ms = for_ever.count();
  options.full_window_timeout_ms = for_ever.count();
  std::optional<Server> server;
  std::jthread starts([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    server.emplace(options);
  });
  Graph g;
  const Output x = g.constant(5);
  Session session("actorflow://" + address, g, {}, for_ever.count());
  BOOST_TEST(session.run(x).scalar<std::int32_t>() == 5);
  starts.join();
}

BOOST_AUTO_TEST_SUITE_END()
