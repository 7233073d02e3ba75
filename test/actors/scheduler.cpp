#include "actors/runtime/scheduler.h"

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <chrono>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "actors/runtime/exit_status.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/runtime/threaded_runtime.h"
#include "kernels/devices/team.h"
#include "test/actors/support/little_room.h"
#include "test/support/crash.h"
#include "test/support/status_of.h"

namespace actorflow {
namespace {

std::size_t this_thread() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }

struct AskWhere {
  std::atomic<std::size_t>& answer;
  ThreadUnit& waiting;
};

}  // namespace
}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AskWhere)

namespace actorflow {
namespace {

// Answers with the thread that it ran on.
template <class Base>
caf::behavior where(Base*) {
  return {[](const AskWhere& question) {
    question.answer = this_thread();
    question.waiting.stop();
  }};
}

// Where an actor runs that this thread wakes while it attends a unit.
template <class Base>
std::size_t thread_of(ThreadedRuntime& runtime, Duty duty) {
  std::atomic<std::size_t> place = 0;
  const auto actor = runtime.system().spawn<caf::lazy_init>(where<Base>);
  Attendance attendance(runtime.scheduler(), duty);
  caf::anon_send(actor, AskWhere{place, attendance.unit()});
  attendance.unit().run_until_stopped();
  return place;
}

BOOST_AUTO_TEST_SUITE(scheduler)

BOOST_AUTO_TEST_CASE(a_waiting_thread_runs_the_actors_that_it_wakes) {
  ThreadedRuntime runtime({.num_threads = 1});
  BOOST_TEST(thread_of<LightActor>(runtime, Duty::compute) == this_thread());
  BOOST_TEST(thread_of<ComputingActor>(runtime, Duty::compute) == this_thread());
  BOOST_TEST(thread_of<PinnedActor>(runtime, Duty::compute) == this_thread());
}

BOOST_AUTO_TEST_CASE(a_thread_with_light_duty_leaves_computing_to_the_workers) {
  ThreadedRuntime runtime({.num_threads = 1});
  BOOST_TEST(thread_of<LightActor>(runtime, Duty::light) == this_thread());
  BOOST_TEST(thread_of<ComputingActor>(runtime, Duty::light) != this_thread());
  BOOST_TEST(thread_of<PinnedActor>(runtime, Duty::light) != this_thread());
}

// Each of them waits for the other, in its first activation.
BOOST_AUTO_TEST_CASE(pieces_that_one_actor_spawns_run_beside_each_other) {
  ThreadedRuntime runtime({.num_threads = 2});
  std::array<std::counting_semaphore<>, 2> begun{std::counting_semaphore<>(0),
                                                 std::counting_semaphore<>(0)};
  std::atomic<int> met = 0, ended = 0;
  Attendance attendance(runtime.scheduler(), Duty::compute);
  const auto piece = [&](PieceActor*, std::size_t number) -> caf::behavior {
    begun[number].release();
    met += begun[1 - number].try_acquire_for(std::chrono::seconds(30)) ? 1 : 0;
    if (++ended == 2) attendance.unit().stop();
    return {};
  };
  const auto parent = runtime.system().spawn<caf::lazy_init>([&](ComputingActor* self) -> caf::behavior {
    return {[self, &piece](int) {
      self->spawn(piece, 0U);
      self->spawn(piece, 1U);
    }};
  });
  caf::anon_send(parent, 1);
  attendance.unit().run_until_stopped();
  BOOST_TEST(met == 2);
}

BOOST_AUTO_TEST_CASE(messages_of_many_threads_all_arrive) {
  ThreadedRuntime runtime({.num_threads = 3});
  std::atomic<int> sum = 0;
  constexpr int threads = 4, messages = 5000;
  const auto actor = runtime.system().spawn(
      [&sum](LightActor*) -> caf::behavior { return {[&sum](int i) { sum += i; }}; });
  std::vector<std::thread> senders;
  for (int t = 0; t < threads; ++t)
    senders.emplace_back([&] {
      for (int i = 0; i < messages; ++i) {
        Attendance attendance(runtime.scheduler(), Duty::compute);
        caf::anon_send(actor, 1);
        if (i % 2 == 0) attendance.unit().run_ready();  // else what is left goes to the workers
      }
    });
  for (auto& sender : senders) sender.join();
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  caf::scoped_actor { runtime.system() } -> wait_for(actor);
  BOOST_TEST(sum == threads * messages);
}

BOOST_AUTO_TEST_CASE(a_team_runs_each_part_once) {
  ThreadedRuntime runtime({.num_threads = 3});
  for (int parts : {0, 1, 2, 7, 100})
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
      runtime.team().run(parts, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
      for (const auto& count : runs) BOOST_TEST(count == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_team_hands_on_what_a_part_throws) {
  ThreadedRuntime runtime({.num_threads = 2});
  std::atomic<int> runs = 0;
  BOOST_CHECK_THROW(runtime.team().run(8,
                                       [&](int part) {
                                         ++runs;
                                         if (part == 3) throw std::runtime_error("part 3");
                                       }),
                    std::runtime_error);
  BOOST_TEST(runs > 0);
}

BOOST_AUTO_TEST_CASE(teams_within_teams_end) {
  ThreadedRuntime runtime({.num_threads = 2});
  std::atomic<int> runs = 0;
  runtime.team().run(4, [&](int) { runtime.team().run(4, [&](int) { ++runs; }); });
  BOOST_TEST(runs == 16);
}

BOOST_AUTO_TEST_CASE(threads_that_cannot_be_started_are_an_error,
                     *boost::unit_test::precondition(test::room_can_be_little)) {
  const auto start = [](int threads) { const ThreadedRuntime runtime({.num_threads = threads}); };
  {
    const test::LittleRoom room;
    const Status status = test::status_of([&] { start(2000); });
    BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
    BOOST_TEST(status.message.find("2000 threads") != std::string::npos, status.message);
  }
  BOOST_CHECK_NO_THROW(start(4));
}

// From 128 on whoever manages the process starts it again (apps/launch/deploy).
BOOST_AUTO_TEST_CASE(a_task_that_ends_itself_says_why_and_that_trying_again_is_of_use) {
  const auto death = test::death_of([] {
    ThreadedRuntime runtime({.num_threads = 1});
    runtime.scheduler().end_task("its state cannot be trusted");
  });
  BOOST_TEST(death.signal == 0);
  BOOST_TEST(death.status == lost_task);
  BOOST_TEST(death.said.find("its state cannot be trusted") != std::string::npos, death.said);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace actorflow
