// Tasks that are connected and fall silent, or are only busy.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "actors/actorflow.h"
#include "kernels/core/kernel.h"
#include "test/schema/support/tasks.h"
#include "test/support/contains.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(heartbeat)

using namespace actorflow;
using namespace actorflow::test;
using test::status_of;

namespace {

ServerOptions options_of(const ClusterSpec& cluster, const std::string& job, int timeout_ms) {
  ServerOptions options;
  options.cluster = cluster;
  options.job = job;
  options.num_threads = 1;
  options.heartbeat_timeout_ms = timeout_ms;
  return options;
}

Tensor zeros(Shape shape) {
  Tensor tensor = Tensor::allocate(DType::float32, std::move(shape));
  std::ranges::fill(tensor.mutable_values<float>(), 0.0f);
  return tensor;
}

// 4096 x^2 for a scalar, after a product of matrices that takes one thread seconds.
Output long_kernel(Graph& g, Output x) {
  const Output matrix = g.constant(zeros({4096, 1})) + g.constant(zeros({1, 4096})) + x;
  return mean(matmul(matrix, matrix));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_task_that_is_connected_and_says_nothing_is_lost_and_named) {
  const auto network = make_rpc_network(builtin_ops().registry(), heap());
  const test::Receiver mute(*network, test::task("ps", 0));
  Server worker(options_of({{"ps", {mute.address()}}, {"worker", {"127.0.0.1:0"}}}, "worker", 500));
  Graph g;
  const Output x = g.placeholder(DType::int32, {});
  const Output there = g.on("/job:ps/task:0", [&] { return x + 1; });
  Session session(worker.target(), g);
  const Status status = status_of([&] { session.run(there, {{x, Tensor::scalar(1)}}); });
  BOOST_TEST((status.code == Code::unavailable), status.to_string());
  BOOST_TEST(contains(status.message, "/job:ps/task:0 at "), status.message);
  BOOST_TEST(contains(status.message, "has said nothing for"), status.message);
}

BOOST_AUTO_TEST_CASE(a_task_whose_threads_all_compute_is_not) {
  const ClusterSpec cluster{{"ps", {test::free_address()}}, {"worker", {test::free_address()}}};
  Server ps(options_of(cluster, "ps", 1000)), worker(options_of(cluster, "worker", 1000));
  Graph g;
  const Output x = g.placeholder(DType::float32, {});
  const Output slow = g.on("/job:ps/task:0", [&] { return long_kernel(g, x); });
  Session session(worker.target(), g);
  BOOST_TEST(session.run(slow, {{x, Tensor::scalar(1.0f)}}).scalar<float>() == 4096.0f);
}

// The client's thread computes, right after it has woken the peer of the other task.
BOOST_AUTO_TEST_CASE(nor_is_one_whose_client_computes) {
  const ClusterSpec cluster{{"ps", {test::free_address()}}, {"worker", {test::free_address()}}};
  Server ps(options_of(cluster, "ps", 1000)), worker(options_of(cluster, "worker", 1000));
  Graph g;
  const Output x = g.placeholder(DType::float32, {});
  const Output slow = g.on("/job:worker/task:0", [&] { return long_kernel(g, x); });
  const Output after = g.on("/job:ps/task:0", [&] { return x + slow; });
  Session session(worker.target(), g);
  BOOST_TEST(session.run(after, {{x, Tensor::scalar(1.0f)}}).scalar<float>() == 4097.0f);
}

BOOST_AUTO_TEST_CASE(a_process_that_has_been_replaced_learns_it_and_ends) {
  const auto ps_address = test::free_address();
  const auto cluster_with = [&](const std::string& chief) {
    return ClusterSpec{{"ps", {ps_address}}, {"chief", {chief}}};
  };
  const auto address = test::free_address();
  Server ps(options_of(cluster_with(address), "ps", 1000));
  Server first(options_of(cluster_with(address), "chief", 1000));
  Graph g;
  const Output x = g.placeholder(DType::int32, {});
  const Output there = g.on("/job:ps/task:0", [&] { return x + 1; });
  const Feeds feeds{{x, Tensor::scalar(1)}};
  Session session(first.target(), g);
  BOOST_TEST(session.run(there, feeds).scalar<int>() == 2);

  // Its answers go to the first one's address; that it has called is enough.
  Server second(options_of(cluster_with("127.0.0.1:0"), "chief", 0));
  status_of([&] { Session(second.target(), g).run({there}, feeds, {}, {.timeout_ms = 200}); });
  Status status;
  while (first.replaced().empty()) status = status_of([&] { Session(first.target(), g).run(there, feeds); });
  BOOST_TEST(contains(first.replaced(), "/job:chief/task:0"), first.replaced());
  BOOST_TEST(contains(first.replaced(), "has been replaced"), first.replaced());
  BOOST_TEST(contains(first.join(), "has been replaced"));
  status = status_of([&] { Session(first.target(), g).run(there, feeds); });
  BOOST_TEST(!status.ok());
  first.shutdown_cluster("nobody listens to it");
  BOOST_TEST(!ps.stopping());
}

// A parameter server that has restarted meets the newer chief first, and then the older one, which was stopped.
BOOST_AUTO_TEST_CASE(a_process_is_never_replaced_by_an_older_one) {
  const auto ps_address = test::free_address(), address = test::free_address();
  const auto chief_options = [&](const std::string& chief, std::uint32_t start_number) {
    ServerOptions options = options_of({{"ps", {ps_address}}, {"chief", {chief}}}, "chief", 1000);
    options.start_number = start_number;
    return options;
  };
  Server ps(options_of({{"ps", {ps_address}}, {"chief", {address}}}, "ps", 1000));
  Server older(chief_options(address, 1)), newer(chief_options("127.0.0.1:0", 2));
  Graph g;
  const Output x = g.placeholder(DType::int32, {});
  const Output there = g.on("/job:ps/task:0", [&] { return x + 1; });
  const Feeds feeds{{x, Tensor::scalar(1)}};
  status_of([&] { Session(newer.target(), g).run({there}, feeds, {}, {.timeout_ms = 200}); });
  while (older.replaced().empty() && newer.replaced().empty())
    status_of([&] { Session(older.target(), g).run({there}, feeds, {}, {.timeout_ms = 200}); });
  BOOST_TEST(newer.replaced().empty(), newer.replaced());
  BOOST_TEST(contains(older.replaced(), "has been replaced"), older.replaced());
}

BOOST_AUTO_TEST_SUITE_END()
