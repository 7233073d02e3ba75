// Which thread runs an actor whose work is measured.
#include "actors/runtime/activation_time.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <chrono>
#include <thread>

#include "actors/runtime/thread_affinity.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/support/hang_limit.h"

using namespace actorflow;
using namespace std::chrono_literals;

namespace actorflow {

struct TimedWork {
  std::chrono::microseconds time;
  std::atomic<std::thread::id>& thread;
  ThreadUnit& waiting;
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::TimedWork)

namespace {

caf::behavior worker(MeasuredActor*) {
  return {[](const TimedWork& work) {
    if (work.time > 0us) std::this_thread::sleep_for(work.time);
    work.thread = std::this_thread::get_id();
    work.waiting.stop();
  }};
}

// Whether it holds once. Not a number of tries: a busy machine may need many.
template <class Condition>
bool comes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + test::hang_limit;
  while (std::chrono::steady_clock::now() < end)
    if (condition()) return true;
  return false;
}

// A thread whose own work is not to wait, as the network's.
struct LightThread {
  ThreadedRuntime runtime{{.num_threads = 1}};
  caf::actor actor = runtime.system().spawn<caf::lazy_init>(worker);

  bool runs(std::chrono::microseconds time) {
    std::atomic<std::thread::id> thread;
    {
      const Attendance once(runtime.scheduler(), Duty::light);
      caf::anon_send(actor, TimedWork{time, thread, once.unit()});
      once.unit().run_until_stopped();
    }
    return thread == std::this_thread::get_id();
  }
  // Whether it ever does: on a busy machine a short activation may take long, too.
  bool comes_to_run() {
    return comes_true([this] { return runs(0us); });
  }
};

// Whether a client that waits runs what another thread asks of the actor that it has called.
bool client_runs_what_is_long() {
  ThreadedRuntime runtime({.num_threads = 1});
  const auto actor = runtime.system().spawn<caf::lazy_init>(worker);
  std::atomic<std::thread::id> thread;
  const Attendance client(runtime.scheduler(), Duty::compute);
  caf::anon_send(actor, TimedWork{5ms, thread, client.unit()});
  client.unit().run_until_stopped();
  std::jthread other([&] {
    const SystemVisit visit;
    caf::anon_send(actor, TimedWork{0us, thread, client.unit()});
  });
  client.unit().run_until_stopped();
  return thread == std::this_thread::get_id();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(activation_time)

BOOST_AUTO_TEST_CASE(a_new_actor_counts_as_long_until_it_was_brief_for_a_while) {
  ActivationTime time;
  BOOST_TEST(!time.within(ActivationTime::limit));
  time.measured(1us);
  BOOST_TEST(!time.within(ActivationTime::limit));
  for (int i = 0; i < 400; ++i) time.measured(1us);
  BOOST_TEST(time.within(ActivationTime::limit));
}

BOOST_AUTO_TEST_CASE(one_long_activation_is_remembered_for_many_short_ones) {
  ActivationTime time;
  for (int i = 0; i < 400; ++i) time.measured(1us);
  time.measured(2 * ActivationTime::limit);
  for (int i = 0; i < 30; ++i) {
    BOOST_TEST(!time.within(ActivationTime::limit));
    time.measured(1us);
  }
  for (int i = 0; i < 400; ++i) time.measured(1us);
  BOOST_TEST(time.within(ActivationTime::limit));
}

BOOST_AUTO_TEST_CASE(
    a_light_thread_runs_what_has_been_brief_and_leaves_what_has_been_long_to_the_workers) {
  LightThread light;
  BOOST_TEST(!light.runs(0us));
  BOOST_TEST(light.comes_to_run());
  light.runs(5ms);
  BOOST_TEST(!light.runs(0us));
  BOOST_TEST(light.comes_to_run());
}

BOOST_AUTO_TEST_CASE(more_is_brief_for_a_while_after_others_have_wanted_the_core) {
  ThreadedRuntime runtime({.num_threads = 1});
  Scheduler& scheduler = runtime.scheduler();
  const auto until_limit_is = [&](auto limit) {
    while (scheduler.brief_limit() != limit) std::this_thread::yield();
  };
  until_limit_is(ActivationTime::limit);  // its own thread may have seen others at once
  do {  // again if this thread did not run meanwhile
    scheduler.saw_wanted_core();
  } while (scheduler.brief_limit() != ActivationTime::limit_on_wanted_cores);
  until_limit_is(ActivationTime::limit);
}

// Not always: the client may not be waiting yet.
BOOST_AUTO_TEST_CASE(a_client_that_waits_runs_the_actor_that_it_has_called) {
  BOOST_TEST(comes_true(client_runs_what_is_long));
}

BOOST_AUTO_TEST_SUITE_END()
