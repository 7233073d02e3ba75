// Devices that users ask for, at the level of a session: names, scopes, filters, soft placement.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "kernels/ops.h"
#include "test/actors/support/real_servers.h"
#include "test/support/contains.h"
#include "test/support/status_of.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr const char* cpu0 = "/job:local/replica:0/task:0/device:CPU:0";
constexpr const char* cpu1 = "/job:local/replica:0/task:1/device:CPU:0";

struct PlacedTasks {
  const std::string& target() { return cluster.server("local", 0).target(); }

  // Where a session puts a node of that device, and that it computes there.
  std::string device_for(const std::string& device, const SessionOptions& options = {}) {
    Graph g;
    const Output x = g.placeholder(DType::int32, {}, "x");
    const Output y = g.on(device, [&] { return x + 1; });
    Session s(target(), g, options);
    BOOST_TEST(s.run(y, {{x, Tensor::scalar(1)}}).scalar<int>() == 2);
    return s.placement().graph.node(y.edge.node).device;
  }

  LocalCluster cluster{{{"local", 2}}};
};

// Task 0 of a cluster whose task 1 is not there.
Server half_a_cluster() {
  ServerOptions options;
  options.cluster = ClusterSpec{{"local", {"127.0.0.1:0", nobodys_address()}}};
  options.job = "local";
  options.connect_timeout_ms = 100;
  return Server(std::move(options));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session_placement, PlacedTasks)

BOOST_AUTO_TEST_CASE(full_short_and_partial_names_are_placed_where_they_say) {
  BOOST_TEST(device_for("") == cpu0);
  BOOST_TEST(device_for("/cpu:0") == cpu0);
  BOOST_TEST(device_for("/device:CPU:0") == cpu0);
  BOOST_TEST(device_for("/job:local") == cpu0);
  BOOST_TEST(device_for("/task:1") == cpu1);
  BOOST_TEST(device_for("/job:local/task:1") == cpu1);
  BOOST_TEST(device_for("/job:local/task:1/cpu:0") == cpu1);
  BOOST_TEST(device_for(cpu1) == cpu1);
}

BOOST_AUTO_TEST_CASE(nested_scopes_and_device_functions_merge_inward) {
  Graph g;
  const auto ps_for_variables = [](const Node& node) {
    return std::string(node.op->name == "ReadVariable" ? "/task:1" : "");
  };
  const auto nested = g.on("/job:local/task:1", [&] {
    return std::pair{g.on("/cpu:0", [&] { return g.constant(1); }),
                     g.on("/task:0", [&] { return g.constant(2); })};
  });
  const auto chosen = g.on("/job:local/task:0", [&] {
    return g.on(ps_for_variables, [&] { return g.variable("v", g.constant(3)); });
  });
  Session s(target(), g);
  s.initialize_variables();
  const Placement placement = s.placement();
  const auto device_of = [&](const Output& output) {
    return placement.graph.node(output.edge.node).device;
  };
  BOOST_TEST(device_of(nested.first) == cpu1);
  BOOST_TEST(device_of(nested.second) == cpu0);
  BOOST_TEST(device_of(chosen) == cpu1);
  BOOST_TEST(device_of(chosen.initializer()) == cpu1);
}

BOOST_AUTO_TEST_CASE(a_missing_gpu_becomes_the_cpu_of_the_same_task) {
  const std::string gpu = "/gpu:" + std::to_string(cuda_device_count());  // the first that is not there
  BOOST_TEST(device_for(gpu) == cpu0);
  BOOST_TEST(device_for("/job:local/task:0" + gpu) == cpu0);
  BOOST_TEST(device_for("/job:local/task:1" + gpu) == cpu1);
}

BOOST_AUTO_TEST_CASE(without_soft_placement_a_missing_gpu_is_an_error_that_lists_the_devices) {
  for (const char* gpu : {"/gpu:99", "/job:local/task:1/gpu:99"}) {
    Graph g;
    const Output y = g.on(gpu, [&] { return g.constant(1, "stray"); });
    Session s(target(), g, {.allow_soft_placement = false});
    const Status status = status_of([&] { s.run(y); });
    BOOST_TEST((status.code == Code::invalid_argument));
    for (const char* part : {"'stray'", "GPU:99", cpu0, cpu1})
      BOOST_TEST(contains(status.message, part), status.message);
  }
}

BOOST_AUTO_TEST_CASE(the_placement_is_a_table_and_a_picture) {
  Graph g;
  const Output x = g.constant(2, "x");
  const Output y = g.on("/job:local/task:1", [&] { return x - 66; });
  Session s(target(), g);
  BOOST_TEST(s.run(y).scalar<int>() == -64);
  const Placement placement = s.placement();
  BOOST_TEST(contains(placement.table(), std::string("x      Const  ") + cpu0 + "\n"),
             placement.table());
  BOOST_TEST(contains(placement.table(), std::string("Sub    Sub    ") + cpu1 + "\n"),
             placement.table());
  BOOST_TEST(contains(placement.dot(), "cluster/job:local/replica:0/task:1"), placement.dot());
}

BOOST_AUTO_TEST_CASE(devices_come_with_type_memory_and_incarnation) {
  Graph g;
  Session s(target(), g);
  const auto devices = s.devices();
  BOOST_REQUIRE(devices.size() >= 2u);
  BOOST_TEST(devices.front().name == cpu0);
  BOOST_TEST(devices.front().type == "CPU");
  BOOST_TEST(devices.front().memory_bytes > (1 << 20));
  const auto other = std::ranges::find(devices, std::string(cpu1), &DeviceInfo::name);
  BOOST_REQUIRE((other != devices.end()));
  BOOST_TEST(other->memory_bytes == devices.front().memory_bytes);
  BOOST_TEST(other->incarnation != devices.front().incarnation);
}

BOOST_AUTO_TEST_CASE(a_node_outside_the_filters_is_invalid_and_names_them) {
  Graph g;
  const Output y = g.on("/job:local/task:1", [&] { return g.constant(1, "far"); });
  Session s(target(), g, {.device_filters = {"/job:local/task:0"}});
  const Status status = status_of([&] { s.run(y); });
  BOOST_TEST((status.code == Code::invalid_argument));
  for (const char* part : {"'far'", "/job:local/task:1", "filters /job:local/task:0"})
    BOOST_TEST(contains(status.message, part), status.message);
  for (const auto& device : s.devices())
    BOOST_TEST(device.name.starts_with("/job:local/replica:0/task:0/"), device.name);
  BOOST_TEST(device_for("/task:1", {.device_filters = {"/job:other", "/task:1"}}) == cpu1);
}

BOOST_AUTO_TEST_CASE(the_own_task_takes_part_whatever_the_filters) {
  BOOST_TEST(device_for("", {.device_filters = {"/job:other"}}) == cpu0);
}

BOOST_AUTO_TEST_CASE(a_filter_that_is_no_device_is_invalid) {
  Graph g;
  const Status status = status_of([&] { Session s(target(), g, {.device_filters = {"worker"}}); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(contains(status.message, "'worker'"), status.message);
}

BOOST_AUTO_TEST_CASE(a_task_that_is_filtered_out_or_not_used_need_not_be_there) {
  Server server = half_a_cluster();
  Graph g;
  const Output near = g.constant(1);
  const Output far = g.on("/task:1/gpu:0", [&] { return g.constant(2); });
  Session open(server.target(), g);
  BOOST_TEST(open.run(near).scalar<int>() == 1);
  BOOST_TEST((status_of([&] { open.run(far); }).code == Code::unavailable));
  BOOST_TEST((status_of([&] { open.devices(); }).code == Code::unavailable));
  Session filtered(server.target(), g, {.device_filters = {"/task:0"}});
  BOOST_TEST(filtered.devices().front().name == cpu0);
  BOOST_TEST((status_of([&] { filtered.run(far); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(a_step_that_cannot_begin_ends_with_its_timeout_and_names_the_task) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"local", {"127.0.0.1:0", nobodys_address()}}};
  options.job = "local";
  Server server(std::move(options));  // which would wait a minute for task 1
  Graph g;
  const Output far = g.on("/task:1", [&] { return g.constant(2); });
  Session s(server.target(), g);
  const Status status = status_of([&] { s.run(far, {}, {.timeout_ms = 50}); });
  BOOST_TEST((status.code == Code::deadline_exceeded));
  BOOST_TEST(contains(status.message, "/job:local/task:1"), status.message);
}

BOOST_AUTO_TEST_SUITE_END()
