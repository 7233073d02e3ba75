// The timeouts of steps, and what they cost those that end in time.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>
#include <future>
#include <thread>

#include "actors/actorflow.h"
#include "actors/master/running_steps.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/support/status_of.h"
#include "test/support/waiting_token.h"

using namespace actorflow;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(step_timeouts)

namespace {

using test::status_of;

struct Numbers final : Random {
  std::uint64_t next() override { return ++last << 2; }
  StepId last = 0;  // the number of the newest step
};

// The steps of a master that counts the timers which end.
struct TimedSteps {
  TimedSteps() {
    task->tasks.push_back({"worker", 0});
    task->self = {task->tasks[0], 1};
    task->random = &numbers;
    task->clock = &runtime.clock();
    task->worker = runtime.system().spawn([](caf::event_based_actor* sink) -> caf::behavior {
      sink->set_default_handler(caf::drop);
      return {[](Tick) {}};
    });
    master = runtime.system().spawn([this](GuardedActor* actor) -> caf::behavior {
      steps = std::make_unique<RunningSteps>(actor, task);
      made.set_value(actor);
      return {[this](const LookForLateSteps&) { ++timers; }, [this](Tick) { looked.set_value(); }};
    });
    self = made.get_future().get();
  }
  ~TimedSteps() {
    steps.reset();
    caf::anon_send_exit(master, caf::exit_reason::user_shutdown);
    *task = {};
  }

  void run(std::int64_t timeout_ms) {
    MasterReplyFn take = [](const MasterReply&) {};
    StepRequest request;
    request.timeout_ms = timeout_ms;
    steps->start(parts, std::move(request), take);
    StepDone done{numbers.last, {}, {}};
    steps->on_done({TaskId{0}, 1}, done);
  }

  ThreadedRuntime runtime;
  Numbers numbers;
  std::shared_ptr<TaskContext> task = std::make_shared<TaskContext>();
  std::shared_ptr<Parts> parts = std::make_shared<Parts>(Parts{{TaskId{0}, 1, 1, {}}});
  std::unique_ptr<RunningSteps> steps;
  std::promise<GuardedActor*> made;
  std::promise<void> looked;
  std::atomic<int> timers{0};
  caf::actor master;
  GuardedActor* self = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_CASE(steps_that_end_in_time_leave_one_timer_not_one_each) {
  constexpr auto timeout = 10ms;
  TimedSteps own;
  for (int i = 0; i < 100; ++i) own.run(timeout.count());
  own.self->delayed_send(own.self, 2 * timeout, Tick{});  // after all that they may have left
  own.looked.get_future().get();
  BOOST_TEST(own.timers == 1);
}

BOOST_AUTO_TEST_CASE(a_step_ends_at_its_timeout_while_one_with_a_longer_timeout_goes_on) {
  Graph g;
  const Output token = test::token_that_never_comes(g);
  const Output other = test::token_that_never_comes(g, "another_step");
  Session s(g);
  Status longer;
  std::jthread waiting(
      [&] { longer = status_of([&] { s.run(token, {}, {.timeout_ms = 3'600'000}); }); });
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(
        (status_of([&] { s.run(other, {}, {.timeout_ms = 20}); }).code == Code::deadline_exceeded));
  s.close();
  waiting.join();
  BOOST_TEST((longer.code == Code::cancelled), longer.to_string());
}

BOOST_AUTO_TEST_SUITE_END()
