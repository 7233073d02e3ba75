// As many clients of one parameter server as a large job has workers.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/actorflow.h"
#include "test/apps/support/process.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(many_sessions)

using namespace actorflow;
using test::free_addresses;
using test::Process;
using test::status_of;

BOOST_AUTO_TEST_CASE(four_hundred_sessions_count_together) {
  constexpr std::size_t clients = 400;
  constexpr std::int64_t steps = 3;
  const std::string address = free_addresses(1)[0], target = "actorflow://" + address;
  Process server(std::vector<std::string>{"actorflow", "server", "--cluster",
                                          R"({"ps": [")" + address + R"("]})", "--job", "ps", "--task",
                                          "0"});
  BOOST_REQUIRE(server.prints("listening"));
  Graph g;
  const Variable v = g.variable("v", g.constant(std::int64_t{5}));
  const Output more = g.assign_add(v, g.constant(std::int64_t{1}));
  Session first(target, g);
  first.initialize_variables();

  std::vector<std::unique_ptr<Session>> sessions;
  for (std::size_t i = 0; i < clients; ++i) sessions.push_back(std::make_unique<Session>(target, g));
  std::vector<Status> failures(clients);  // Boost.Test is for one thread
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients; ++i)
      threads.emplace_back([&, i] {
        for (std::int64_t step = 0; step < steps && failures[i].ok(); ++step)
          failures[i] = status_of([&] { sessions[i]->run(more); });
      });
  }
  for (const Status& failure : failures) BOOST_TEST(failure.ok(), failure.to_string());
  BOOST_TEST(first.run(v).scalar<std::int64_t>() == 5 + static_cast<std::int64_t>(clients) * steps);
}

BOOST_AUTO_TEST_SUITE_END()
