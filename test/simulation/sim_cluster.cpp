// The simulated cluster runs the production actors, in virtual time, the same way for the same seed.
#include "actors/simulation/sim_cluster.h"

#include <spdlog/spdlog.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <set>
#include <string>

#include "actors/client/session.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/world/world.h"
#include "dataflow/graph/graph.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(sim_cluster)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// Worker 0 solves the equations on both workers, and then ends the job.
int equations(SimTask& task) {
  Server& server = task.server();
  if (server.name() != TaskName{"worker", 0}) {
    server.join();
    return 0;
  }
  Graph g;
  const Output x =
      g.placeholder(DType::int32, {}, "x");  // a constant would be folded, with all the rest
  const Output y2 = g.on("/job:worker/task:1", [&] { return x - g.constant(66); });
  const Output y = g.on("/job:worker/task:0", [&] { return x + g.constant(300) + y2; });
  Session session(server.target(), g);
  const int result = session.run(y, {{x, Tensor::scalar(2)}}).scalar<int>();
  server.shutdown_cluster("done");
  return result;
}

struct Outcome {
  int result = 0;
  std::uint64_t hash = 0;
};

Outcome solve(std::uint64_t seed) {
  SimCluster sim({{"worker", 2}}, {.seed = seed});
  auto run = sim.start(equations);
  const int result = run.finish("/job:worker/task:0");
  return {result, sim.trace_hash()};
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_tasks_solve_the_equations) { BOOST_TEST(solve(1).result == 238); }

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_run_and_another_one_another) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome first = solve(seed), second = solve(seed);
    BOOST_TEST(first.hash == second.hash);
    BOOST_TEST(first.result == 238);
    hashes.insert(first.hash);
  }
  BOOST_TEST(hashes.size() == 20u);
}

BOOST_AUTO_TEST_CASE(a_recorded_run_names_its_messages) {
  SimOptions options;
  options.record = true;
  SimCluster sim({{"worker", 2}}, options);
  auto run = sim.start(equations);
  run.finish();
  sim.write_trace(sim.storage(), "trace.json");
  const auto bytes = sim.storage().read("trace.json");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const char* part :
       {"\"RunGraph\"", "\"TensorDelivery\"", "\"/job:worker/task:1\"", "\"ph\":\"s\""})
    BOOST_TEST(text.find(part) != std::string_view::npos);
}

BOOST_AUTO_TEST_CASE(time_is_virtual) {
  SimCluster sim({{"worker", 1}});
  auto run = sim.start([](SimTask& task) { task.sleep(30min); });
  run.finish();
  BOOST_TEST((sim.statistics().simulated >= 30min));
}

BOOST_AUTO_TEST_CASE(messages_cost_the_processors_at_both_ends) {
  SimOptions options;
  options.links.message_cost = 10ms;
  SimCluster sim({{"worker", 2}}, options);
  auto run = sim.start(equations);
  run.finish();
  const auto handled = sim.network().handling(0) + sim.network().handling(1);
  BOOST_TEST((handled >= 2 * sim.network().messages() * 10ms));
  // A step is two messages at least, one after the other.
  BOOST_TEST((sim.statistics().simulated >= 40ms));
}

BOOST_AUTO_TEST_CASE(a_program_that_waits_for_ever_is_found) {
  SimCluster sim({{"worker", 1}}, {.time_limit = 1min});
  auto run = sim.start([](SimTask& task) { task.server().join(); });
  try {
    run.finish();
    BOOST_FAIL("expected an error");
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::deadline_exceeded));
    BOOST_TEST(std::string(error.what()).find("/job:worker/task:0: is still running") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(what_a_task_says_again_and_again_does_not_crowd_out_the_faults) {
  SimCluster sim({{"worker", 2}}, {.time_limit = 10min});
  auto run = sim.start([](SimTask& task) {
    for (int second = 1; task.server().name().index == 0; ++second) {
      task.sleep(1s);
      spdlog::warn("has waited {} s for task 1", second);
    }
    task.server().join();
  });
  sim.at(5s).kill("/job:worker/task:1");
  std::string told;
  try {
    run.finish();
  } catch (const Error& error) {
    told = error.what();
  }
  for (const char* part : {"5s kill /job:worker/task:1", "has waited 1 s", "has waited 2 s",
                           "has waited 599 s for task 1 (596 lines like it are left out)"})
    BOOST_TEST(told.find(part) != std::string::npos, told << " lacks " << part);
  BOOST_TEST(told.find("has waited 3 s") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_killed_task_is_gone_and_a_restarted_one_begins_anew) {
  SimCluster sim({{"worker", 2}});
  int lives = 0;
  auto run = sim.start([&](SimTask& task) {
    if (task.server().name().index == 1) lives = task.life();
    task.sleep(10s);
    return task.life();
  });
  sim.at(5s).kill("/job:worker/task:1");
  sim.at(7s).restart("/job:worker/task:1");
  BOOST_TEST(run.finish("/job:worker/task:1") == 2);
  BOOST_TEST(run.finish("/job:worker/task:0") == 1);
  BOOST_TEST(lives == 2);
  BOOST_TEST((sim.statistics().simulated >= 17s));
}

// In a destructor, where nothing may be thrown.
BOOST_AUTO_TEST_CASE(a_task_may_be_killed_while_it_releases_a_callable) {
  bool released = false;  // outlives the client, which goes on from there when it is unwound
  SimCluster sim({{"worker", 1}});
  auto run = sim.start([&](SimTask& task) {
    Graph g;
    const Output x = g.constant(2, "x");
    Session session(task.server().target(), g);
    {
      const Callable callable = session.make_callable({x}, {});
      sim.world().pause(0, true);  // nobody answers from now on
    }
    released = true;
  });
  sim.at(5s).kill("/job:worker/task:0");
  BOOST_CHECK_THROW(run.finish(), Error);
  BOOST_TEST(!released);
}

BOOST_AUTO_TEST_CASE(a_task_ends_at_once_when_it_has_given_up_another_one) {
  SimCluster sim({{"worker", 2}});
  std::string error;
  auto run = sim.start([&](SimTask& task) {
    if (task.server().name().index == 1) return task.sleep(1h);
    Graph g;
    const Output x = g.placeholder(DType::int32, {}, "x");
    const Output y = g.on("/job:worker/task:1", [&] { return x + x; });
    try {
      Session(task.server().target(), g).run(y, {{x, Tensor::scalar(2)}});
    } catch (const Error& e) {
      error = e.what();
    }
  });
  sim.at(0s).kill("/job:worker/task:1");
  BOOST_CHECK_THROW(run.finish(), Error);  // of the killed task
  BOOST_TEST(error.find("/job:worker/task:1") != error.npos, error);
  BOOST_TEST((sim.statistics().simulated >= 60s));  // ServerOptions::connect_timeout_ms
  BOOST_TEST((sim.statistics().simulated < 61s));
}

BOOST_AUTO_TEST_CASE(a_program_that_fails_fails_the_run) {
  SimCluster sim({{"worker", 1}});
  auto run = sim.start([](SimTask&) { throw invalid_argument("no good"); });
  BOOST_CHECK_EXCEPTION(run.finish(), Error, [](const Error& error) {
    return std::string(error.what()).find("/job:worker/task:0 failed: no good") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
