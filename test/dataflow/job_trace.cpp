#include "dataflow/graph/job_trace.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "dataflow/ops/trace_ops.h"
#include "test/support/contains.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(job_trace)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Kind = TaskEvent::Kind;

const std::string ps = "/job:ps/task:0", worker = "/job:worker/task:0";

TaskEvent ran(const std::string& name, std::int64_t start_us, std::int64_t end_us) {
  return {Kind::node, 7, {name, "Relu", "", start_us, end_us, 8}};
}

TaskEvent message(Kind kind, const std::string& peer, std::int64_t time_us, std::int64_t channel) {
  return {kind, 7, {"", "TensorDelivery", "", time_us, time_us, 40, peer, channel}};
}

// The parameter server sends at 12 what the worker, idle since 5, gets at 20 and uses from 23 on.
JobTrace two_tasks() {
  return {{{ps, 0, 100, 0, {ran("w", 10, 12), message(Kind::sent, worker, 12, 3)}},
           {worker,
            0,
            100,
            0,
            {ran("a", 1, 5),
             ran("b", 2, 4),
             ran("c", 23, 30),
             ran("d", 34, 35),
             message(Kind::received, ps, 20, 3),
             {Kind::part, 7, {"", "", "", 0, 40, 0}}}}}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_gap_is_a_wait_for_the_sender_of_the_message_that_ended_it) {
  const auto found = waits(two_tasks());
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].task == worker);
  BOOST_TEST(found[0].peer == ps);
  BOOST_TEST(found[0].message == "TensorDelivery");
  BOOST_TEST(found[0].begin_us == 5);
  BOOST_TEST(found[0].arrived_us == 20);
  BOOST_TEST(found[0].end_us == 23);
  BOOST_TEST(found[1].peer == "");  // between 30 and 34 nothing came
  BOOST_TEST(found[1].arrived_us == 30);
}

BOOST_AUTO_TEST_CASE(shares_add_up_to_the_time_between_first_and_last_node) {
  const auto of_worker = shares(two_tasks()).at(1);
  BOOST_TEST(of_worker.steps == 1);
  BOOST_TEST(of_worker.nodes == 4);
  BOOST_TEST(of_worker.received == 1);
  BOOST_TEST(of_worker.spanned_us == 34);
  BOOST_TEST(of_worker.computed_us == 12);
  BOOST_TEST(of_worker.woken_us == 3);
  BOOST_REQUIRE(of_worker.waited.size() == 2u);
  BOOST_TEST(of_worker.waited[0].peer == ps);
  BOOST_TEST(of_worker.waited[0].waited_us == 15);
  BOOST_TEST(of_worker.waited[1].waited_us == 4);
}

BOOST_AUTO_TEST_CASE(a_task_that_ran_nothing_waits_for_nobody) {
  const JobTrace trace{{{ps, 0, 100, 0, {message(Kind::received, worker, 3, 1)}}}};
  BOOST_TEST(waits(trace).empty());
  BOOST_TEST(shares(trace).at(0).spanned_us == 0);
  BOOST_TEST(shares(trace).at(0).computed_us == 0);
}

BOOST_AUTO_TEST_CASE(the_picture_joins_both_ends_of_a_message) {
  const std::string json = to_chrome_trace(two_tasks());
  for (const char* part :
       {"\"name\":\"/job:ps/task:0\"", "\"name\":\"/job:worker/task:0\"",
        "\"ts\":5,\"name\":\"waits for /job:ps/task:0\"", "\"dur\":15", "\"ts\":20,\"name\":\"wakes\"",
        "\"name\":\"step 7\"", "\"ph\":\"s\"", "\"ph\":\"f\"", "TensorDelivery to /job:worker/task:0",
        "TensorDelivery from /job:ps/task:0"})
    BOOST_TEST(contains(json, part), part << " is missing in " << json);
}

BOOST_AUTO_TEST_CASE(messages_that_cannot_be_told_apart_have_no_arrow) {
  JobTrace trace = two_tasks();
  trace.tasks[0].events.push_back(message(Kind::sent, worker, 14, 3));
  BOOST_TEST(!contains(to_chrome_trace(trace), "\"ph\":\"s\""));
  trace.tasks[0].events.back() = message(Kind::sent, worker, 14, 4);
  BOOST_TEST(contains(to_chrome_trace(trace), "\"ph\":\"s\""));
}

BOOST_AUTO_TEST_CASE(a_record_is_the_same_after_its_way_as_tensors) {
  for (const auto& task : two_tasks().tasks) {
    const TaskRecord back = task_record_of(task.task, record_tensors(task));
    BOOST_TEST(back.end_us == task.end_us);
    BOOST_REQUIRE(back.events.size() == task.events.size());
    for (std::size_t i = 0; i < back.events.size(); ++i) {
      BOOST_TEST((back.events[i].kind == task.events[i].kind));
      BOOST_TEST(back.events[i].step == task.events[i].step);
      BOOST_TEST(back.events[i].record.node == task.events[i].record.node);
      BOOST_TEST(back.events[i].record.peer == task.events[i].record.peer);
      BOOST_TEST(back.events[i].record.end_us == task.events[i].record.end_us);
      BOOST_TEST(back.events[i].record.channel == task.events[i].record.channel);
    }
  }
}

BOOST_AUTO_TEST_CASE(tensors_that_are_no_record_are_refused) {
  auto tensors = record_tensors(two_tasks().tasks[0]);
  tensors[2] = Tensor::zeros(DType::int64, {1, 6});  // of one event, where there are texts of two
  const auto status = status_of([&] { task_record_of(ps, tensors); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(contains(status.message, ps), status.message);
}

BOOST_AUTO_TEST_CASE(a_time_that_cannot_be_recorded_is_refused) {
  Graph g;
  for (const std::int64_t time : {std::int64_t{-1}, max_record_milliseconds + 1})
    BOOST_TEST((status_of([&] { record_task(g, time); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
