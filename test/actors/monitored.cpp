// Monitored sessions: who starts and recovers a model, how training ends.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "actors/monitored/training_end.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/training_ops.h"
#include "test/actors/support/monitored_job.h"
#include "test/actors/support/real_servers.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(monitored)

using namespace actorflow;
using Job = test::MonitoredJob;
using Program = test::MonitoredProgram;
using Recorder = test::HookRecorder;
using test::status_of;
using test::weight;

BOOST_AUTO_TEST_CASE(in_one_process_it_needs_no_server) {
  Graph g;
  const Variable step = global_step(g);
  const Output next = g.assign_add(step, g.constant(std::int64_t{1}));
  MonitoredOptions options;
  options.hooks = {stop_after_steps(5)};
  MonitoredSession session(g, options);
  std::int64_t last = 0;
  while (!session.should_stop()) last = session.run(next)[0].scalar<std::int64_t>();
  BOOST_TEST(last == 5);
}

BOOST_AUTO_TEST_CASE(aborted_and_unavailable_are_recovered_from) {
  for (const Code code : {Code::aborted, Code::unavailable}) {
    Job job;
    Program p;
    const auto recorder = std::make_shared<Recorder>();
    auto options = job.chief();
    options.hooks = {recorder};
    options.save_checkpoint = {.steps = 2};
    MonitoredSession session(job.worker(0), p.g, options);
    for (int i = 0; i < 3; ++i) session.run(p.train, p.feed(1));
    BOOST_TEST(weight(session, p) == -0.5F);
    int attempts = 0;
    const bool done = session.run_step([&](StepContext& step) {
      if (++attempts == 1) throw Error(code, "a task is lost");
      BOOST_TEST(step.session().run(p.step).scalar<std::int64_t>() == 2);
      step.run(p.train, p.feed(4));
    });
    BOOST_TEST(done);
    BOOST_TEST(attempts == 2);
    BOOST_TEST(weight(session, p) == 0.0F - 2.0F);  // restored at step 2, then one step
    BOOST_TEST(recorder->calls.find("created", recorder->calls.find("created") + 1) !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_new_chief_restores_and_fences_the_others) {
  Job job;
  Program p, q(1), again;
  auto options = job.chief();
  options.save_checkpoint = {.steps = 1000};
  auto first = std::make_unique<MonitoredSession>(job.worker(0), p.g, options);
  MonitoredSession other(job.worker(1), q.g, job.other());
  other.run(q.train, q.feed(1));
  BOOST_TEST(weight(other, q) == 0.5F);
  first.reset();
  MonitoredSession second(job.worker(0), again.g, options);  // from the checkpoint of step 0
  BOOST_TEST(weight(second, again) == 1.0F);
  int attempts = 0;
  other.run_step([&](StepContext& step) {
    ++attempts;
    step.run(q.train, q.feed(1));
  });
  BOOST_TEST(attempts == 2);  // the first was of the old epoch
  BOOST_TEST(weight(other, q) == 0.5F);
}

BOOST_AUTO_TEST_CASE(the_others_wait_for_the_chief_by_name) {
  Job job;
  Program p(1);
  auto options = job.other();
  options.max_wait_secs = 0.2;
  const Status status = status_of([&] { MonitoredSession session(job.worker(1), p.g, options); });
  BOOST_TEST((status.code == Code::deadline_exceeded));
  for (const char* word : {"/job:worker/task:1", "/job:worker/task:0", "'global_step'"})
    BOOST_TEST(status.message.find(word) != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(a_task_that_does_not_answer_is_asked_a_moment_longer_than_the_wait_may_last) {
  ServerOptions task;
  task.cluster = ClusterSpec{{"ps", {test::nobodys_address()}}, {"worker", {"127.0.0.1:0"}}};
  task.job = "worker";
  Server worker(std::move(task));
  Program p;
  MonitoredOptions options;
  options.max_wait_secs = 0.2;
  const Status status = status_of([&] { MonitoredSession session(worker, p.g, options); });
  BOOST_TEST((status.code == Code::deadline_exceeded), status.to_string());
  for (const char* words : {"could not begin within 1200 ms", "/job:ps/task:0"})
    BOOST_TEST(status.message.find(words) != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(without_a_checkpoint_a_chief_goes_on_with_what_is_there) {
  Job job;
  Program p, again;
  auto options = job.chief();
  options.checkpoint_dir = "";
  {
    MonitoredSession session(job.worker(0), p.g, options);
    session.run(p.train, p.feed(1));
  }
  MonitoredSession session(job.worker(0), again.g, options);
  BOOST_TEST(weight(session, again) == 0.5F);
}

BOOST_AUTO_TEST_CASE(the_last_checkpoint_has_what_is_set_after_the_last_step) {
  Job job;
  Program p;
  const Output set = p.g.on("/job:worker/task:0", [&] {
    return p.g.assign(p.w, p.g.constant(Tensor::of<float>({1}, {7.0F})));
  });
  auto options = job.chief();
  options.save_checkpoint = {.steps = 1};  // the last step has a checkpoint before
  options.last_step = 2;
  MonitoredSession session(job.worker(0), p.g, options);
  while (!session.should_stop()) session.run(p.train, p.feed(1));
  session.session().run(std::vector<Output>{}, {}, {set});
  session.variables_changed();
  session.close();
  const auto saved = load_latest_checkpoint(posix_storage(), job.folder.path());
  BOOST_TEST(saved.value().global_step == 2);
  BOOST_TEST(saved.value().tensors.at("w").values<float>()[0] == 7.0F);
}

BOOST_AUTO_TEST_CASE(who_comes_when_training_is_complete_leaves_at_once) {
  Job job;
  Program p(1);
  mark_complete(posix_storage(), job.folder.path(), 10);
  auto options = job.other();
  options.last_step = 10;
  MonitoredSession session(job.worker(1), p.g, options);
  BOOST_TEST(session.should_stop());
  BOOST_TEST(session.run(p.train, p.feed(1)).empty());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_job_ends_a_step_that_waits) {
  Job job;
  Program p(1);
  std::jthread end([&] { job.worker(1).stop("over"); });
  MonitoredSession session(job.worker(1), p.g, job.other());  // no chief will ever come
  BOOST_TEST(session.should_stop());
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_fails_or_stops) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Job job;
  Program p, q;
  auto options = job.chief();
  options.hooks = {nan_tensor(p.loss)};
  MonitoredSession strict(job.worker(0), p.g, options);
  const Status status = status_of([&] { strict.run(p.loss, p.feed(nan)); });
  BOOST_TEST((status.code == Code::not_finite), status.to_string());
  BOOST_TEST(status.message.find("nan") != std::string::npos);

  options.hooks = {nan_tensor(q.loss, OnNan::stop)};
  MonitoredSession lenient(job.worker(0), q.g, options);
  lenient.run(q.loss, q.feed(nan));
  BOOST_TEST(lenient.should_stop());
}

// Both replicas go back, whichever has met it.
BOOST_AUTO_TEST_CASE(nan_gradient_takes_all_replicas_back_to_the_newest_checkpoint) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Job job;
  Program p, q(1);
  auto options = job.chief();
  options.save_checkpoint = {.steps = 1'000'000};  // only before the first step
  options.max_rollbacks = 1;
  MonitoredSession chief(job.worker(0), p.g, options);
  for (int step = 0; step < 5; ++step) chief.run(p.train, p.feed(1));
  BOOST_TEST(weight(chief, p) == -1.5F);
  auto others = job.other();
  others.max_rollbacks = 1;
  MonitoredSession worker(job.worker(1), q.g, others);
  bool was_bad = false;
  std::jthread bad([&] {
    worker.run_step(
        [&](StepContext& step) { step.run(q.train, q.feed(std::exchange(was_bad, true) ? 0 : nan)); });
  });
  do chief.run(p.train, p.feed(0));
  while (weight(chief, p) == -1.5F);
  bad.join();
  BOOST_TEST(weight(chief, p) == 1.0F);
  const Status status = status_of([&] { worker.run(q.train, q.feed(nan)); });
  BOOST_TEST((status.code == Code::not_finite), status.to_string());
  BOOST_TEST(weight(chief, p) == 1.0F);
}

BOOST_AUTO_TEST_CASE(who_rolls_back_needs_checkpoints) {
  Job job;
  Program p;
  auto options = job.chief();
  options.checkpoint_dir.clear();
  options.max_rollbacks = 1;
  const Status status = status_of([&] { MonitoredSession(job.worker(0), p.g, options); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("checkpoint_dir") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(how_long_a_checkpoint_may_hold_replicas_back_is_an_option) {
  Job job;
  Program p;
  auto options = job.chief();
  options.longest_hold_ms = 30'000;
  MonitoredSession session(job.worker(0), p.g, options);
  const auto& nodes = p.g.def().nodes;
  const auto hold = std::ranges::find(nodes, &hold_steps_op(), &Node::op);
  BOOST_REQUIRE(hold != nodes.end());
  BOOST_TEST(attr<std::int64_t>(*hold, "limit_ms") == 30'000);
}

BOOST_AUTO_TEST_CASE(options_that_make_no_sense_are_named) {
  Job job;
  Program p;
  const auto refused = [&](const auto& change, const std::string& text) {
    auto options = job.chief();
    change(options);
    const Status status = status_of([&] { MonitoredSession(job.worker(0), p.g, options); });
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(status.message.find(text) != std::string::npos, status.message);
  };
  refused([](MonitoredOptions& o) { o.save_checkpoint = {.steps = -2}; },
          "save_checkpoint.steps must be 0 or more, got -2");
  refused([](MonitoredOptions& o) { o.max_wait_secs = -1; }, "max_wait_secs");
  refused([](MonitoredOptions& o) { o.hooks = {nullptr, stop_at_step(3)}; }, "hook 0 of 2");
}

BOOST_AUTO_TEST_CASE(a_program_may_say_how_to_initialise_and_what_is_ready) {
  Job job;
  Program p, q(1);
  const Output start = p.g.placeholder(DType::float32, {1}, "start");
  auto options = job.chief();
  options.checkpoint_dir = "";
  options.init_op = p.g.group({p.step.initializer(), p.g.assign(p.w, start)}, "init");
  options.init_feeds = {{start, Tensor::of<float>({1}, {5.0F})}};
  float seen = 0;
  options.init_fn = [&](Session& session) { seen = session.run(p.w).values<float>()[0]; };
  MonitoredSession chief(job.worker(0), p.g, options);
  BOOST_TEST(seen == 5.0F);

  options = job.other();
  options.checkpoint_dir = "";
  options.ready_op = q.g.add(is_initialized_op(), {}, {{"variable", std::string("elsewhere")}}, "ready");
  options.max_wait_secs = 0.2;
  const Status status = status_of([&] { MonitoredSession(job.worker(1), q.g, options); });
  BOOST_TEST((status.code == Code::deadline_exceeded));
  BOOST_TEST(status.message.find("until ready_op, ready, is true") != std::string::npos, status.message);
}

// It heard of the job's end before its first session, or between two.
BOOST_AUTO_TEST_CASE(a_server_that_stops_without_a_session_is_the_end_of_training) {
  Job job;
  Program p(1);
  job.worker(1).stop("the job is over");
  MonitoredSession session(job.worker(1), p.g, job.other());
  BOOST_TEST(session.should_stop());
  BOOST_TEST(session.why_over() == "the job is over");
  BOOST_TEST(session.run({p.loss}, p.feed(1)).empty());
  session.close();
}

BOOST_AUTO_TEST_SUITE_END()
