#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/transform/place.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(place)

using namespace actorflow;
using test::invalid_with;

namespace {

const std::string ps0 = "/job:ps/replica:0/task:0/device:CPU:0";
const std::string ps1 = "/job:ps/replica:0/task:1/device:CPU:0";
const std::string worker = "/job:worker/replica:0/task:0/device:CPU:0";
const std::string gpu0 = "/job:worker/replica:0/task:0/device:GPU:0";
const std::string gpu1 = "/job:worker/replica:0/task:0/device:GPU:1";

std::vector<DeviceName> devices() {
  std::vector<DeviceName> names;
  for (const auto& text : {ps0, ps1, gpu0, gpu1, worker}) names.push_back(DeviceName::parse(text));
  return names;
}

GraphDef placed(const Graph& g, const PlaceOptions& options = {},
                const std::string& default_device = worker) {
  GraphDef graph = g.def();
  actorflow::place(graph, devices(), DeviceName::parse(default_device), options);
  return graph;
}

// The device that a node gets which asks for `wanted`.
std::string device_for(const std::string& wanted, const PlaceOptions& options = {},
                       const std::string& default_device = worker) {
  Graph g;
  g.on(wanted, [&] { g.constant(1.0, "x"); });
  return placed(g, options, default_device).node(0).device;
}

bool has_no_gpu_kernel(const OpDef&, std::string_view type) { return type == "CPU"; }

}  // namespace

BOOST_AUTO_TEST_CASE(open_fields_come_from_the_default_device) {
  BOOST_TEST(device_for("") == worker);
  BOOST_TEST(device_for("", {}, ps1) == ps1);
  BOOST_TEST(device_for("/gpu:1") == gpu1);
  BOOST_TEST(device_for("/gpu") == gpu0);
  BOOST_TEST(device_for("", {}, gpu1) == gpu1);
  BOOST_TEST(device_for("", {}, "/job:ps") == ps0);
}

BOOST_AUTO_TEST_CASE(the_first_fitting_device_is_taken_where_the_default_does_not_fit) {
  BOOST_TEST(device_for("/job:ps") == ps0);
  BOOST_TEST(device_for("/job:ps/task:1") == ps1);
  BOOST_TEST(device_for("/job:worker", {}, ps0) == worker);
}

BOOST_AUTO_TEST_CASE(an_op_without_a_kernel_for_the_gpu_goes_to_the_cpu_only_if_allowed) {
  BOOST_TEST(device_for("/gpu:1", {.soft_placement = true, .has_kernel = has_no_gpu_kernel}) == worker);
  BOOST_TEST(device_for("", {.soft_placement = false, .has_kernel = has_no_gpu_kernel}, gpu0) == worker);
  BOOST_CHECK_EXCEPTION(device_for("/gpu:1", {.soft_placement = false, .has_kernel = has_no_gpu_kernel}),
                        Error, invalid_with({"'x' (Const)", "no kernel", "/device:GPU:1"}));
}

BOOST_AUTO_TEST_CASE(soft_placement_stays_within_the_task) {
  const PlaceOptions soft{.soft_placement = true, .has_kernel = {}};
  BOOST_TEST(device_for("/job:ps/task:1/gpu:0", soft) == ps1);
  BOOST_TEST(device_for("/gpu:7", soft) == worker);
  BOOST_CHECK_EXCEPTION(device_for("/job:ps/task:2", soft), Error, invalid_with({"'/job:ps/task:2'"}));
  BOOST_CHECK_EXCEPTION(device_for("/job:trainer", soft), Error, invalid_with({"'/job:trainer'"}));
}

BOOST_AUTO_TEST_CASE(a_device_without_a_task_is_one_of_the_default_task) {
  const PlaceOptions soft{.soft_placement = true, .has_kernel = {}};
  BOOST_TEST(device_for("/gpu:0", soft, ps1) == ps1);
  BOOST_CHECK_EXCEPTION(
      device_for("/gpu:0", {}, ps1), Error,
      invalid_with({"'/job:ps/replica:0/task:1/device:GPU:0'", "known devices: ", gpu0}));
}

BOOST_AUTO_TEST_CASE(all_nodes_that_cannot_be_placed_are_reported_together) {
  Graph g;
  g.on("/job:ps/task:7", [&] { g.constant(1.0, "a"); });
  g.constant(1.0, "fine");
  g.on("/job:trainer", [&] { g.constant(1.0, "b"); });
  BOOST_CHECK_EXCEPTION(placed(g), Error,
                        invalid_with({"'a' (Const)", "'/job:ps/task:7'", "'b' (Const)", "'/job:trainer'",
                                      "known devices: " + ps0 + ", " + ps1}));
}

BOOST_AUTO_TEST_CASE(state_ops_follow_their_variable) {
  Graph g;
  const Variable v = g.on("/job:ps/task:1", [&] { return g.variable("v", g.constant(1.0)); });
  const Output known = g.add(is_initialized_op(), {}, {{"variable", "v"}});
  const Output moved = g.on("/job:ps/task:0", [&] {
    return g.add(is_initialized_op(), {}, {{"variable", "v"}});
  });
  const Output other_job = g.on("/job:worker", [&] {
    return g.add(is_initialized_op(), {}, {{"variable", "v"}});
  });
  const GraphDef graph = placed(g);
  BOOST_TEST(graph.node(v.value().edge.node).device == ps1);
  BOOST_TEST(graph.node(known.edge.node).device == ps1);
  BOOST_TEST(graph.node(moved.edge.node).device == ps0);
  BOOST_TEST(graph.node(other_job.edge.node).device == worker);
}

BOOST_AUTO_TEST_CASE(the_read_of_a_variable_leads_even_if_it_comes_later) {
  Graph g;
  const Output known = g.add(is_initialized_op(), {}, {{"variable", "v"}});
  g.on("/job:ps/task:1", [&] { g.variable("v", g.constant(1.0)); });
  BOOST_TEST(placed(g).node(known.edge.node).device == ps1);
}

BOOST_AUTO_TEST_CASE(the_table_is_aligned) {
  Graph g;
  g.add(identity_op(), {g.constant(1.0, "a_long_name")}, {}, "y");
  BOOST_TEST(placement_table(placed(g)) ==
             "a_long_name  Const     " + worker + "\n" + "y            Identity  " + worker + "\n");
}

BOOST_AUTO_TEST_CASE(the_drawing_groups_nodes_by_task) {
  Graph g;
  const Output x = g.on("/job:ps/task:0", [&] { return g.constant(1.0, "say \"x\""); });
  const Output y = g.add(identity_op(), {x}, {}, "y");
  g.group({y}, "done");
  const std::string dot = to_dot(placed(g));
  for (const char* part : {"subgraph \"cluster/job:ps/replica:0/task:0\"", "\"say \\\"x\\\"\" -> \"y\"",
                           "float64[]", "\"y\" -> \"done\" [style=dashed]", "label=\"y (Identity)\""})
    BOOST_TEST(dot.find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_SUITE_END()
