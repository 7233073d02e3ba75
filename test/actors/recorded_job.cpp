// Recording of what all tasks of a job do.
#include "actors/client/record_job.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <thread>
#include <utility>

#include "actors/client/session.h"
#include "actors/probes/handler_probe.h"
#include "dataflow/ops/trace_ops.h"
#include "kernels/ops.h"
#include "test/support/contains.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(recorded_job)

using namespace actorflow;
using namespace actorflow::test;
using namespace std::chrono_literals;

namespace {

using Kind = TaskEvent::Kind;

const std::string first = "/job:local/task:0", second = "/job:local/task:1";

// Two tasks, which run steps until the end: y on the second, z of it on the first.
class BusyTasks {
 public:
  explicit BusyTasks(Executor executor) {
    SessionOptions options;
    options.executor = executor;
    client_ = std::thread([this, options] {
      Session session(target(), g_, options);
      while (!over_) {
        session.run(z_, {{x_, Tensor::zeros(DType::float32, {10})}});
        ++steps_;
      }
    });
    while (steps_ == 0) std::this_thread::yield();
  }
  ~BusyTasks() {
    over_ = true;
    client_.join();
  }

  std::string target() { return cluster_.server("local", 1).target(); }
  std::string y() const { return y_.name(); }

 private:
  LocalCluster cluster_{{{"local", 2}}};
  Graph g_;
  Output x_ = g_.placeholder(DType::float32, {10}, "x");
  Output y_ = g_.on("/task:1", [&] { return x_ + x_; });
  Output z_ = g_.on("/task:0", [&] { return y_ * 3.0F; });
  std::atomic<bool> over_{false};
  std::atomic<int> steps_{0};
  std::thread client_;
};

bool has(const TaskRecord& task, Kind kind, const std::string& node = "") {
  return std::ranges::any_of(task.events, [&](const TaskEvent& event) {
    return event.kind == kind && event.record.node == node;
  });
}

// The tensors that a task has sent, or received, by step and channel. A fast machine moves many
// thousands.
std::map<std::pair<StepId, std::int64_t>, const TaskEvent*> tensors_of(const TaskRecord& task,
                                                                       Kind kind) {
  std::map<std::pair<StepId, std::int64_t>, const TaskEvent*> tensors;
  for (const TaskEvent& event : task.events)
    if (event.kind == kind && event.record.op == "TensorDelivery")
      tensors.emplace(std::pair(event.step, event.record.channel), &event);
  return tensors;
}

// Throws in one handler of the workers while it is armed.
class ThrowIn : public HandlerProbe {
 public:
  explicit ThrowIn(std::string_view message) : message_(message) { handler_probe = this; }
  ~ThrowIn() override { handler_probe = nullptr; }

  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    if (handler.actor == "worker" && handler.message == message_ && armed.exchange(false))
      throw Error(Code::internal, "planted");
  }
  void after(const HandlerName&) override {}

  std::atomic<bool> armed{true};

 private:
  const std::string message_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(all_tasks_tell_their_steps_nodes_and_messages_on_one_clock) {
  for (const auto executor : {Executor::lanes, Executor::node_actors}) {
    BusyTasks tasks(executor);
    const JobTrace trace = record_job(tasks.target(), {.time = 300ms});
    BOOST_REQUIRE(trace.tasks.size() == 2u);
    const auto &one = trace.tasks[0], &other = trace.tasks[1];
    BOOST_TEST(one.task == first);
    BOOST_TEST(other.task == second);
    BOOST_TEST(std::min(one.begin_us, other.begin_us) == 0);
    BOOST_TEST(one.end_us >= 300'000);
    for (const auto& task : trace.tasks) BOOST_TEST(has(task, Kind::part), task.task);
    BOOST_TEST(has(other, Kind::node, tasks.y()));
    BOOST_TEST(!has(one, Kind::node, tasks.y()));
    const auto received = tensors_of(one, Kind::received);
    int met = 0;
    for (const auto& [label, sent] : tensors_of(other, Kind::sent)) {
      const auto found = received.find(label);
      if (found == received.end()) continue;
      ++met;
      BOOST_TEST(sent->record.peer == first);
      BOOST_TEST(sent->record.bytes_out == 40);
      BOOST_TEST(sent->record.start_us <= found->second->record.start_us);
    }
    BOOST_TEST(met > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_task_is_recorded_for_one_at_a_time) {
  Graph g;
  const Output one = record_task(g, 200)[0], two = record_task(g, 200)[0];
  Session session(g);
  const auto status = status_of([&] { session.run({one, two}); });
  BOOST_TEST((status.code == Code::unavailable));
  BOOST_TEST(contains(status.message, "is being recorded already"), status.message);
  // The first goes on until its time is over, though its step has failed.
  while (status_of([&] { session.run(one); }).code == Code::unavailable) {
  }
  BOOST_TEST(session.run(record_task(g, 0)[0]).values<std::int64_t>()[2] == 0);
}

BOOST_AUTO_TEST_CASE(what_throws_while_a_task_is_recorded_fails_that_step_alone) {
  for (const char* message : {"StateCall", "EndOfRecord"}) {
    ThrowIn probe(message);
    Graph g;
    const Output record = record_task(g, 1)[0];
    Session session(g);
    const auto status = status_of([&] { session.run(record); });
    BOOST_TEST(contains(status.message, "planted"), message << ": " << status.message);
    BOOST_TEST(session.run(record).values<std::int64_t>()[2] == 0);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_there_cannot_be_recorded) {
  BOOST_TEST((status_of([] {
                record_job("actorflow://127.0.0.1:1", {.connect_timeout = 200ms});
              }).code == Code::unavailable));
  LocalCluster cluster({{"local", 1}});
  BOOST_TEST((status_of([&] { record_job(cluster.server("local", 0).target(), {.time = -1ms}); }).code ==
              Code::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
