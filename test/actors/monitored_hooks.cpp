// The hooks of monitored sessions: when they are called, and what those that come with them do.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/events/summaries.h"
#include "test/actors/support/memory_storage.h"
#include "test/actors/support/monitored_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(monitored_hooks)

using namespace actorflow;
using Job = test::MonitoredJob;
using Program = test::MonitoredProgram;
using Recorder = test::HookRecorder;
using test::status_of;
using test::weight;

BOOST_AUTO_TEST_CASE(training_stops_at_the_step_that_the_hook_names) {
  Job job;
  Program p;
  auto options = job.chief();
  options.hooks = {stop_at_step(3)};
  MonitoredSession session(job.worker(0), p.g, options);
  int steps = 0;
  for (; !session.should_stop(); ++steps) session.run(p.train, p.feed(1));
  BOOST_TEST(steps == 3);
  BOOST_TEST(weight(session, p) == -0.5F);
  BOOST_TEST(session.run(p.train, p.feed(1)).empty());
  session.close();
}

// As of a replica that was left behind by several steps while it made one.
BOOST_AUTO_TEST_CASE(training_stops_when_a_step_leaps_to_the_last) {
  Graph g;
  const Variable step = global_step(g);
  const Output leap = g.after({step}, [&] { return g.assign_add(step, g.constant(std::int64_t{3})); });
  TrainOp train;
  train.step = leap;
  MonitoredOptions options;
  options.hooks = {stop_at_step(3), sync_replicas(train)};
  MonitoredSession session(g, options);
  session.run(leap);
  BOOST_TEST(session.should_stop());
}

BOOST_AUTO_TEST_CASE(hooks_are_called_around_each_step_and_get_what_they_fetch) {
  Job job;
  Program p;
  const auto recorder = std::make_shared<Recorder>();
  recorder->fetch = p.loss;
  auto options = job.chief();
  options.hooks = {recorder};
  MonitoredSession session(job.worker(0), p.g, options);
  const auto results = session.run(p.loss, p.feed(3));
  BOOST_TEST(results.size() == 1u);
  session.run(p.train, p.feed(2));
  session.close();
  BOOST_TEST(recorder->calls == "begin created before after before after end ");
  BOOST_TEST(recorder->seen == (std::vector<float>{3, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(hooks_of_the_chief_only_are_not_called_elsewhere) {
  Job job;
  Program p, q(1);
  const auto mine = std::make_shared<Recorder>(), others = std::make_shared<Recorder>();
  auto options = job.chief();
  options.chief_only_hooks = {mine};
  MonitoredSession chief(job.worker(0), p.g, options);
  options = job.other();
  options.chief_only_hooks = {others};
  MonitoredSession other(job.worker(1), q.g, options);
  BOOST_TEST(mine->calls == "begin created ");
  BOOST_TEST(others->calls == "");
}

BOOST_AUTO_TEST_CASE(the_end_of_the_input_ends_training_cleanly) {
  Job job;
  Program p;
  const auto recorder = std::make_shared<Recorder>();
  int left = 3;
  auto options = job.chief();
  options.hooks = {recorder, feed_fn({.begin = {}, .next = [&] {
                                        if (left-- == 0) throw Error(Code::out_of_range, "no more");
                                        return p.feed(1);
                                      }})};
  MonitoredSession session(job.worker(0), p.g, options);
  while (!session.should_stop()) session.run(p.train);
  BOOST_TEST(weight(session, p) == -0.5F);
  session.close();
  BOOST_TEST(recorder->calls.ends_with("end "));
}

BOOST_AUTO_TEST_CASE(any_other_error_comes_out_and_hooks_do_not_end) {
  Job job;
  Program p;
  const auto recorder = std::make_shared<Recorder>();
  auto options = job.chief();
  options.hooks = {recorder};
  MonitoredSession session(job.worker(0), p.g, options);
  BOOST_TEST((status_of([&] { session.run(p.train); }).code == Code::invalid_argument));
  session.close();
  BOOST_TEST(recorder->calls == "begin created before ");
}

BOOST_AUTO_TEST_CASE(checkpoints_come_at_their_steps_and_at_the_end) {
  struct Listener : CheckpointListener {
    std::vector<std::int64_t> before, after;
    void before_save(Session&, std::int64_t step) override { before.push_back(step); }
    void after_save(Session&, std::int64_t step, const std::string&) override { after.push_back(step); }
  };
  Job job;
  Program p;
  const auto listener = std::make_shared<Listener>();
  const Saver saver(p.g, {p.w, p.step}, p.step);
  auto options = job.chief();
  options.save_checkpoint = {};
  options.saver = &saver;
  options.hooks = {
      checkpoint_saver(saver, posix_storage(), job.folder.path(), {.steps = 3}, {listener})};
  options.last_step = 7;
  MonitoredSession session(job.worker(0), p.g, options);
  while (!session.should_stop()) session.run(p.train, p.feed(1));
  session.close();
  BOOST_TEST(listener->after == (std::vector<std::int64_t>{0, 3, 6, 7}),
             boost::test_tools::per_element());
  BOOST_TEST(listener->before == listener->after, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(final_ops_step_counter_and_logging_see_the_steps) {
  Job job;
  Program p;
  float last = 0;
  std::vector<std::int64_t> counted;
  int lines = 0;
  auto options = job.chief();
  options.hooks = {
      final_ops({p.w}, [&](const auto& values) { last = values[0].template values<float>()[0]; }),
      step_counter({.steps = 2}, [&](std::int64_t step, double) { counted.push_back(step); }),
      logging_tensor({{"loss", p.loss}}, {.steps = 3}, [&](const NamedTensors& values) {
        ++lines;
        return values[0].first;
      })};
  options.last_step = 7;
  MonitoredSession session(job.worker(0), p.g, options);
  while (!session.should_stop()) session.run(p.train, p.feed(1));
  session.close();
  BOOST_TEST(last == -2.5F);
  BOOST_TEST(counted == (std::vector<std::int64_t>{2, 4, 6}), boost::test_tools::per_element());
  BOOST_TEST(lines == 3);  // steps 0, 3 and 6
}

BOOST_AUTO_TEST_CASE(a_full_disk_loses_summaries_but_no_training) {
  MemoryStorage disk;
  disk.commits_left = 0;
  Job job;
  Program p;
  Summaries summaries;
  summaries.scalar("loss", p.loss);
  auto options = job.chief();
  options.checkpoint_dir = "";
  options.storage = &disk;
  options.summaries = &summaries;
  options.last_step = 3;
  BOOST_TEST((status_of([&] {
                MonitoredSession(job.worker(0), p.g, options);
              }).message.find("summary_dir") != std::string::npos));
  options.summary_dir = "events";
  MonitoredSession session(job.worker(0), p.g, options);
  while (!session.should_stop()) session.run(p.train, p.feed(1));
  session.close();
  BOOST_TEST(weight(session, p) == -0.5F);
}

BOOST_AUTO_TEST_CASE(a_replica_can_wait_for_a_global_step) {
  Job job;
  Program p, q(1);
  MonitoredSession chief(job.worker(0), p.g, job.chief());
  auto options = job.other();
  options.hooks = {global_step_waiter(3)};
  std::int64_t first = 0;
  std::jthread late([&] {
    MonitoredSession other(job.worker(1), q.g, options);
    first = other.run(q.step)[0].scalar<std::int64_t>();
  });
  for (int i = 0; i < 3; ++i) chief.run(p.train, p.feed(1));
  late.join();
  BOOST_TEST(first == 3);
}

BOOST_AUTO_TEST_CASE(a_profiler_writes_a_timeline_of_a_step) {
  const test::Folder folder;
  Job job;
  Program p;
  auto options = job.chief();
  options.hooks = {profiler({.steps = 2}, folder.path())};
  options.last_step = 3;
  MonitoredSession session(job.worker(0), p.g, options);
  while (!session.should_stop()) session.run(p.train, p.feed(1));
  BOOST_TEST(std::filesystem::file_size(folder.file("timeline-2.json")) > 100u);
}

BOOST_AUTO_TEST_SUITE_END()
