#include "dataflow/graph/step_trace.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "test/support/contains.h"

BOOST_AUTO_TEST_SUITE(step_trace)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string ps = "/job:ps/replica:0/task:0/device:CPU:0";
const std::string worker = "/job:worker/replica:0/task:1/device:CPU:0";

StepTrace two_tasks() {
  return {{{"w", "ReadVariable", ps, 10, 12, 40},
           {"w/send", "Send", ps, 12, 13, 40, "/job:worker/task:1", 7},
           {"w/recv", "Recv", worker, 1, 20, 40, "/job:ps/task:0", 7},
           {"a", "Relu", worker, 20, 30, 8},
           {"say \"b\"\n", "Relu", worker, 25, 28, 8}}};
}

// The track of the event with this name.
std::string track_of(const std::string& json, const std::string& name) {
  const auto at = json.find("\"name\":" + name);
  const auto line = json.rfind('\n', at);
  const auto tid = json.find("\"tid\":", line);
  return json.substr(tid, json.find(',', tid) - tid);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_transfer_is_a_send_and_the_recv_of_its_channel) {
  const auto found = transfers(two_tasks());
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].from == "/job:ps/task:0");
  BOOST_TEST(found[0].to == "/job:worker/task:1");
  BOOST_TEST(found[0].bytes == 40);
  BOOST_TEST(found[0].sent_us == 13);
  BOOST_TEST(found[0].received_us == 20);
}

BOOST_AUTO_TEST_CASE(a_send_whose_recv_has_not_run_is_no_transfer) {
  StepTrace trace = two_tasks();
  trace.nodes[2].channel = 8;
  BOOST_TEST(transfers(trace).empty());
}

BOOST_AUTO_TEST_CASE(the_picture_has_a_process_per_task_and_an_event_per_node) {
  const std::string json = to_chrome_trace(two_tasks());
  for (const char* part :
       {"\"name\":\"process_name\",\"args\":{\"name\":\"/job:ps/task:0\"}",
        "\"name\":\"process_name\",\"args\":{\"name\":\"/job:worker/task:1\"}",
        "\"ts\":20,\"name\":\"a\"", "\"dur\":10", "\"bytes_out\":40",
        "\"name\":\"say \\\"b\\\"\\u000a\"", "\"ph\":\"s\"", "\"ph\":\"f\"", "\"id\":7"})
    BOOST_TEST(contains(json, part), part << " is missing in " << json);
  BOOST_TEST(std::ranges::count(json, '{') == std::ranges::count(json, '}'));
}

BOOST_AUTO_TEST_CASE(nodes_that_overlap_are_on_different_tracks) {
  const std::string json = to_chrome_trace(two_tasks());
  BOOST_TEST(track_of(json, "\"a\"") != track_of(json, "\"say"));
  BOOST_TEST(track_of(json, "\"a\"") == track_of(json, "\"w/recv\""));
}

BOOST_AUTO_TEST_CASE(no_nodes_make_an_empty_picture) {
  BOOST_TEST(to_chrome_trace({}) == "{\"traceEvents\":[\n]}\n");
}

BOOST_AUTO_TEST_SUITE_END()
