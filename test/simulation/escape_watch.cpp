// What runs in a simulated world and asks the real machine is found, at the place where it does.
#include "actors/simulation/world/escape_watch.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <mutex>
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

BOOST_AUTO_TEST_CASE(whatever_users_take_from_the_machine_is_found) {
  const std::map<std::string, std::function<void()>> escapes{
      {"clock_gettime", [] { std::ignore = std::chrono::system_clock::now(); }},
      {"time", [] { std::ignore = std::time(nullptr); }},
      {"std::random_device", [] { std::ignore = std::random_device()(); }},
      {"rand", [] { std::ignore = std::rand(); }},
      {"usleep", [] { usleep(1); }},
      {"pthread_create", [] { std::async(std::launch::async, [] {}).get(); }},
      {"fopen", [] { std::ofstream("/dev/null") << "text"; }},
      {"open", [] { close(open("/dev/null", O_WRONLY)); }},
      {"socket", [] { close(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"pthread_cond_clockwait",
       [] {
         std::mutex mutex;
         std::condition_variable never;
         std::unique_lock lock(mutex);
         never.wait_until(lock, std::chrono::steady_clock::time_point::min());
       }},
  };
  for (const auto& [function, escape] : escapes) {
    const std::string told = error_of(escape);
    BOOST_TEST(told.find("but " + function) != std::string::npos, told << " does not name " << function);
    BOOST_TEST(told.find("runtime()->clock()") != std::string::npos);  // what to do
  }
}

BOOST_AUTO_TEST_CASE(a_file_may_be_read) {
  BOOST_TEST(error_of([] { std::ifstream("/proc/self/status").get(); }).empty());
}

BOOST_AUTO_TEST_CASE(who_asks_the_runtime_is_not_found) {
  BOOST_TEST(error_of([] {}).empty());
  look_at_the_clock();  // outside of the simulation
  BOOST_TEST(EscapeWatch::take().empty());
}

BOOST_AUTO_TEST_SUITE_END()
