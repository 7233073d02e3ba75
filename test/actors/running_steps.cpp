// Which error of a step is told, whatever the order in which its tasks report theirs.
#include "actors/master/running_steps.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>
#include <optional>

#include "actors/runtime/threaded_runtime.h"
#include "test/actors/support/failing_memory.h"

using namespace actorflow;

namespace {

struct ConstantRandom final : Random {
  std::uint64_t next() override { return 28; }
};
constexpr StepId the_step = 28 >> 2;

// The master of worker 0, with a step on all three; what it says to workers goes nowhere.
struct ThreeWorkers {
  ThreeWorkers() {
    task->own = TaskId{0};
    for (int i = 0; i < 3; ++i) task->tasks.push_back({"worker", i});
    task->self = {task->tasks[0], 1};
    task->random = &random;
    task->worker = nobody;
    task->peer = [this](TaskId) -> const caf::actor& { return nobody; };
  }
  ~ThreeWorkers() { *task = {}; }

  void start() {
    auto parts = std::make_shared<Parts>();
    for (int i = 0; i < 3; ++i) parts->push_back({TaskId{i}, 1, 1, {}});
    MasterReplyFn take = [this](MasterReply answer) { reply = std::move(answer); };
    steps.start(std::move(parts), StepRequest{}, take);
  }
  void succeeds(int worker) {
    StepDone done{the_step, {}, {}};
    steps.on_done({TaskId{worker}, 1}, done);
  }
  void fails(int worker, Code code) {
    StepDone done{the_step, {code, "node 'n" + std::to_string(worker) + "' failed"}, {}};
    steps.on_done({TaskId{worker}, 1}, done);
  }

  ThreadedRuntime runtime;
  caf::actor nobody = runtime.system().spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::drop);
    return {[](Message&) {}};
  });
  ConstantRandom random;
  std::shared_ptr<TaskContext> task = std::make_shared<TaskContext>();
  RunningSteps steps{nullptr, task};
  std::optional<MasterReply> reply;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(running_steps, ThreeWorkers)

BOOST_AUTO_TEST_CASE(derived_errors_never_hide_the_root_error_in_whatever_order_they_come) {
  std::vector<int> order{0, 1, 2};
  const std::vector<Code> codes{Code::cancelled, Code::out_of_range, Code::aborted};
  do {
    reply.reset();
    start();
    for (const int worker : order) {
      BOOST_TEST(!reply.has_value());
      fails(worker, codes[static_cast<std::size_t>(worker)]);
    }
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST((reply->status.code == Code::out_of_range), reply->status.to_string());
    BOOST_TEST(reply->status.message == "/job:worker/task:1: node 'n1' failed");
    BOOST_TEST(steps.size() == 0u);
  } while (std::ranges::next_permutation(order).found);
}

BOOST_AUTO_TEST_CASE(of_several_root_errors_the_first_is_told) {
  start();
  fails(2, Code::internal);
  fails(0, Code::out_of_range);
  fails(1, Code::resource_exhausted);
  BOOST_TEST((reply->status.code == Code::internal));
}

BOOST_AUTO_TEST_CASE(the_loss_of_an_earlier_incarnation_does_not_end_a_step) {
  start();
  steps.on_peer_lost({TaskId{1}, 99, {Code::unavailable, "gone"}});
  for (int i = 0; i < 3; ++i) succeeds(i);
  BOOST_TEST(reply->status.ok(), reply->status.to_string());
}

BOOST_AUTO_TEST_CASE(the_loss_of_a_task_ends_its_part_as_unavailable) {
  start();
  steps.on_peer_lost({TaskId{1}, 1, {Code::unavailable, "gone"}});
  fails(0, Code::aborted);
  fails(2, Code::aborted);
  BOOST_TEST((reply->status.code == Code::unavailable));
  BOOST_TEST(reply->status.message == "/job:worker/task:1: gone");
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_twice_counts_once) {
  start();
  for (int i = 0; i < 3; ++i) fails(0, Code::out_of_range);
  BOOST_TEST(!reply.has_value());
  fails(1, Code::aborted);
  fails(2, Code::aborted);
  BOOST_TEST(reply.has_value());
}

// As the master does with what its handler throws.
BOOST_AUTO_TEST_CASE(a_step_ends_when_all_parts_have_whatever_memory_its_failure_lacks) {
  std::uint64_t n = 0;
  do {
    reply.reset();
    start();
    succeeds(0);
    succeeds(2);
    test::fail_allocation(++n);
    try {
      fails(1, Code::internal);
    } catch (const std::bad_alloc&) {
      steps.on_lost({TaskId{1}, 1}, the_step, {Code::resource_exhausted, "out of memory"});
    }
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST(!reply->status.ok());
  } while (test::allocations_left() == 0);
  BOOST_TEST(n > 3u);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// The same, with a step that is repeated and whose parts on workers 1 and 2 begin ahead.
struct RepeatedStep : ThreeWorkers {
  RepeatedStep() {
    task->clock = &runtime.clock();
    for (int i = 0; i < 3; ++i) parts->push_back({TaskId{i}, 1, 1, {}, i > 0});
    run(the_step);
  }

  void ask(const StepRequest& request = {}) {
    reply.reset();
    MasterReplyFn take = [this](MasterReply answer) { reply = std::move(answer); };
    steps.start(parts, request, take);
  }
  void done(int worker, StepId step, Status status = {}) {
    StepDone message{step, std::move(status), {}};
    steps.on_done({TaskId{worker}, 1}, message);
  }
  // A step that gets that number.
  void run(StepId step, const StepRequest& request = {}) {
    ask(request);
    for (int i = 0; i < 3; ++i) {
      BOOST_TEST(!reply.has_value());
      done(i, step);
    }
    BOOST_REQUIRE(reply.has_value());
    BOOST_TEST(reply->status.ok());
  }
  bool any_left() const { return steps.has_session(""); }

  std::shared_ptr<Parts> parts = std::make_shared<Parts>();
  static constexpr StepId next_step = the_step + 1;
  const Status failure{Code::internal, "failed"};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(steps_begun_ahead, RepeatedStep)

BOOST_AUTO_TEST_CASE(a_repeated_step_is_the_one_that_has_been_begun) {
  BOOST_TEST(!any_left());
  run(the_step);
  BOOST_TEST(any_left());
  BOOST_TEST(steps.size() == 0u);  // nobody has asked for it
  for (StepId step = next_step; step < next_step + 3; ++step) run(step);
}

BOOST_AUTO_TEST_CASE(what_changes_variables_in_between_ends_what_was_begun) {
  run(the_step);
  auto others = std::make_shared<Parts>(Parts{{TaskId{0}, 1, 1, {}}});
  MasterReplyFn take = [](const MasterReply&) {};
  StepRequest reading;
  reading.changes_variables = false;
  steps.start(others, reading, take);
  done(0, the_step);
  run(next_step);
  take = [](const MasterReply&) {};
  steps.start(others, {}, take);
  done(0, the_step);
  for (int worker = 1; worker < 3; ++worker) {
    BOOST_TEST(any_left());
    done(worker, next_step + 1, {Code::aborted, "aborted"});
  }
  BOOST_TEST(!any_left());
  run(the_step);
}

BOOST_AUTO_TEST_CASE(steps_of_another_epoch_or_with_a_trace_begin_anew) {
  run(the_step);
  StepRequest later;
  later.epoch = 2;
  run(the_step, later);
  run(the_step, later);
  run(next_step, later);
  later.trace = true;
  run(the_step, later);
}

BOOST_AUTO_TEST_CASE(a_step_that_failed_before_it_was_asked_for_fails_no_client) {
  run(the_step);
  done(1, next_step, failure);
  done(2, next_step, {Code::aborted, "aborted"});
  BOOST_TEST(!any_left());
  run(the_step);
}

// Its part of the next step will not begin; those of the others have begun, or will answer.
BOOST_AUTO_TEST_CASE(a_step_that_fails_waits_for_no_answer_of_what_does_not_begin) {
  ask();
  done(2, the_step);
  done(1, the_step, failure);
  done(0, the_step, {Code::aborted, "aborted"});
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST((reply->status.code == Code::internal));
  BOOST_TEST(any_left());
  done(2, next_step, {Code::aborted, "aborted"});
  BOOST_TEST(!any_left());
}

BOOST_AUTO_TEST_CASE(the_loss_of_a_task_ends_what_it_has_begun) {
  run(the_step);
  steps.on_peer_lost({TaskId{1}, 1, {Code::unavailable, "gone"}});
  BOOST_TEST(any_left());
  done(2, next_step, {Code::aborted, "aborted"});
  BOOST_TEST(!any_left());
  ask();
  steps.on_peer_lost({TaskId{2}, 1, {Code::unavailable, "gone"}});
  done(0, the_step, {Code::aborted, "aborted"});
  done(1, the_step, {Code::aborted, "aborted"});
  BOOST_REQUIRE(reply.has_value());
  BOOST_TEST((reply->status.code == Code::unavailable));
  BOOST_TEST(!any_left());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_session_ends_what_was_begun) {
  run(the_step);
  steps.abort_session("", {Code::cancelled, "closed"});
  for (int worker = 1; worker < 3; ++worker) {
    BOOST_TEST(any_left());
    done(worker, next_step, {Code::cancelled, "closed"});
  }
  BOOST_TEST(!any_left());
}

BOOST_AUTO_TEST_SUITE_END()
