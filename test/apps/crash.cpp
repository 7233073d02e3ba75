// What programs say when they crash.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>

#include "actors/actorflow.h"
#include "test/apps/support/process.h"
#include "test/support/ports.h"
#include "test/support/sanitized.h"
#include "test/support/scoped_environment.h"
#include "test/support/strange_memory.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Sanitizers' reports take the place of ours.
boost::test_tools::assertion_result reports(boost::unit_test::test_unit_id) { return !test::sanitized; }

}  // namespace

BOOST_AUTO_TEST_SUITE(crash, *boost::unit_test::precondition(reports))

namespace {

constexpr const char* is_child = "ACTORFLOW_TEST_CRASH";

void check_says(Process& process, const std::string& text) {
  BOOST_TEST(process.output().find(text) != std::string::npos, process.output());
}

}  // namespace

// What the next case runs in a process of its own.
BOOST_AUTO_TEST_CASE(child) {
  if (!std::getenv(is_child)) return;
  Nowhere nowhere;
  Graph g;
  const Output x = g.placeholder(DType::float32, {1 << 20}, "x");
  const Output y = g.on("/job:local/task:1", [&] { return exp(x); });
  LocalCluster cluster({{"local", 2}});
  Session session(cluster.server("local", 0).target(), g);
  session.run(y, {{x, Tensor::allocate(DType::float32, {1 << 20}, nowhere)}});
}

BOOST_AUTO_TEST_CASE(in_a_kernel_of_a_step_node_op_and_task_are_named) {
  const ScopedEnvironment child(is_child, "1");
  Process process({"test_apps", "--run_test=crash/child", "--catch_system_errors=no"});
  BOOST_TEST(process.wait() == 128 + SIGSEGV);
  check_says(process, "crashed by SIGSEGV");
  check_says(process, "node 'Exp' (Exp) on /job:local/replica:0/task:1/device:CPU:0");
  check_says(process, "Please report this text");
}

BOOST_AUTO_TEST_CASE(a_program_says_who_has_sent_the_signal) {
  const std::string address = free_addresses(1)[0];
  Process server({"actorflow", "server", "--cluster", R"({"local": [")" + address + R"("]})", "--job",
                  "local", "--task", "0"});
  BOOST_REQUIRE(server.prints("is listening"));
  server.send_signal(SIGILL);
  BOOST_TEST(server.wait() == 128 + SIGILL);
  check_says(server, "crashed by SIGILL");
  check_says(server, "sent by process " + std::to_string(getpid()));
  check_says(server, "computed no node");
}

BOOST_AUTO_TEST_SUITE_END()
