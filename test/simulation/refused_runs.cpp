// Simulations that make no sense are refused before they begin, with what was expected and what came.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <string>

#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(refused_runs)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

void expect_refused(const std::function<void()>& body, const std::string& part) {
  BOOST_CHECK_EXCEPTION(body(), Error, [&](const Error& error) {
    BOOST_TEST(std::string(error.what()).find(part) != std::string::npos, error.what()
                                                                              << " lacks " << part);
    return true;
  });
}

int life(SimTask& task) { return task.life(); }

// Sets a variable of the environment for its life.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_cluster_needs_tasks) {
  expect_refused([] { SimCluster sim({}, {}); }, "has no task");
  expect_refused(
      [] {
        SimCluster sim({{"worker", 0}}, {});
      },
      "job 'worker' of a simulated cluster: expected 1 task or more, got 0");
  expect_refused([] { SimCluster sim({{"worker", 1}, {"worker", 2}}, {}); }, "two jobs 'worker'");
}

BOOST_AUTO_TEST_CASE(options_have_a_range) {
  expect_refused(
      [] {
        SimCluster sim({{"worker", 1}}, {.time_limit = 0s});
      },
      "time_limit: expected a time above 0");
  expect_refused(
      [] {
        SimCluster sim({{"worker", 1}}, {.links = {.loss = 2}});
      },
      "links.loss: expected a fraction from 0 to 1, got 2");
  expect_refused([] { SimCluster sim({{"worker", 1}}, {.links = {.latency = -1s}}); }, "links.latency");
}

BOOST_AUTO_TEST_CASE(a_cluster_is_started_once_and_before_it_ends) {
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start(life);
  expect_refused([&] { std::ignore = sim.start(life); }, "has been started before");
  run.finish();
}

BOOST_AUTO_TEST_CASE(a_fault_is_about_tasks_that_are_there) {
  SimCluster sim({{"worker", 2}}, {});
  expect_refused([&] { sim.at(1s).kill("/job:ps/task:0"); },
                 "the fault '1s kill /job:ps/task:0' is about /job:ps/task:0, which is not there; the "
                 "last of 2 tasks "
                 "is /job:worker/task:1");
  expect_refused([&] { sim.at(1s).partition("/job:worker/task:1", "/job:worker/task:1", 1s); },
                 "names one task twice");
  expect_refused([&] { sim.apply({{1s, FaultKind::kill}}); }, "names 0, but 'kill' names 1 task");
  expect_refused(
      [&] { sim.at(1s).fault(FaultKind::power, "/job:worker/task:0", "/job:worker/task:1", 1s); },
      "names 2, but 'power' names 0 to 1 task");
  expect_refused([&] { sim.at(1s).delay("/job:worker/task:0", "/job:worker/task:1", -1s, 1s); },
                 "negative size");
  BOOST_TEST(sim.faults().empty());
}

BOOST_AUTO_TEST_CASE(faults_and_calls_come_later_than_now) {
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start([](SimTask& task) { task.sleep(10s); });
  sim.run_for(5s);
  expect_refused([&] { sim.at(3s).kill("/job:worker/task:0"); },
                 "is in the past: 5.000000 s have passed");
  expect_refused([&] { sim.at(3s).call([] {}); }, "a call at 3 s is in the past");
  run.finish();
}

BOOST_AUTO_TEST_CASE(random_faults_need_kinds_and_times_in_order) {
  SimCluster sim({{"worker", 2}}, {});
  expect_refused([&] { sim.apply(RandomFaults{.until = 1s, .kinds = {}}); },
                 "expected some kinds of faults, got none");
  expect_refused([&] { sim.apply(RandomFaults{.from = 2s, .until = 1s}); }, "got from 2s, until 1s");
  expect_refused([&] { std::ignore = random_fault_plan(1, {}, {.until = 1s}); }, "there is no task");
  sim.apply(RandomFaults{.count = 4, .until = 1s, .kinds = {FaultKind::pause}});
  BOOST_TEST(sim.faults().size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_body_that_does_not_run_its_cluster_fails) {
  const auto forgotten = run_seeds({3, 4},
                                   [] {
                                     SimCluster sim({{"worker", 1}});
                                     std::ignore = sim.start(life);
                                   },
                                   {});
  BOOST_REQUIRE(forgotten);
  BOOST_TEST(forgotten->seed == 3u);
  BOOST_TEST(forgotten->error == SeedScope::why_not_run);
  // What the body has thrown is not hidden by that.
  const auto thrown = run_seeds({1, 1},
                                [] {
                                  SimCluster sim({{"worker", 1}});
                                  std::ignore = sim.start(life);
                                  throw Error(Code::internal, "first");
                                },
                                {});
  BOOST_REQUIRE(thrown);
  BOOST_TEST(thrown->error == "first");
}

BOOST_AUTO_TEST_CASE(seeds_in_the_environment_are_numbers) {
  for (const char* text : {"", "-1", "7x", "18446744073709551616"}) {
    const Environment seed("ACTORFLOW_SEED", text);
    expect_refused([] { seeds(1, 2); },
                   "ACTORFLOW_SEED: expected a number from 0 to 18446744073709551615");
  }
}

BOOST_AUTO_TEST_CASE(the_largest_seed_is_one) {
  int runs = 0;
  BOOST_TEST(!run_seeds({~std::uint64_t{0}, ~std::uint64_t{0}}, [&] { ++runs; }, {}));
  BOOST_TEST(runs == 1);
}

BOOST_AUTO_TEST_CASE(what_differs_the_second_time_is_found) {
  const Environment twice("ACTORFLOW_TWICE", "1");
  int runs = 0;
  const auto sleep_once = [](std::chrono::nanoseconds duration) {
    SimCluster sim({{"worker", 1}});
    auto run = sim.start([&](SimTask& task) { task.sleep(duration); });
    run.finish();
  };
  BOOST_TEST(!run_seeds({1, 3}, [&] { sleep_once((++runs, 1s)); }, {}));
  BOOST_TEST(runs == 6);
  const auto failure = run_seeds({1, 3}, [&] { sleep_once(1s * ++runs); }, {});
  BOOST_REQUIRE(failure);
  BOOST_TEST(failure->error.find("was another run the second time") != std::string::npos);
  BOOST_TEST(failure->environment == "ACTORFLOW_SEED=1 ACTORFLOW_TWICE=1");
}

BOOST_AUTO_TEST_SUITE_END()
