// What runs in a simulated world and asks the real machine is found, at the place where it does.
#include "actors/simulation/escape_watch.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "actors/simulation/sim_cluster.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(escape_watch)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

std::string error_of(const std::function<void()>& program) {
  SimCluster sim({{"worker", 1}});
  auto run = sim.start([&](SimTask&) { program(); });
  try {
    run.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void look_at_the_clock() { std::ignore = std::chrono::steady_clock::now(); }

}  // namespace

BOOST_AUTO_TEST_CASE(this_program_is_watched) { BOOST_TEST(EscapeWatch::works()); }

BOOST_AUTO_TEST_CASE(a_look_at_a_real_clock_is_found) {
  BOOST_TEST(error_of(look_at_the_clock).find("clock_gettime is called by") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_thread_is_found) {
  BOOST_TEST(error_of([] { std::thread([] {}).join(); }).find("pthread_create is called by") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_sleep_is_found) {
  BOOST_TEST(error_of([] { std::this_thread::sleep_for(1ms); }).find("nanosleep is called by") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(who_asks_the_runtime_is_not_found) {
  BOOST_TEST(error_of([] {}).empty());
  look_at_the_clock();  // outside of the simulation
  BOOST_TEST(EscapeWatch::take().empty());
}

BOOST_AUTO_TEST_SUITE_END()
