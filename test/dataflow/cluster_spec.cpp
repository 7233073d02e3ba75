#include <boost/test/unit_test.hpp>

#include "dataflow/cluster/cluster_spec.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(cluster_spec)

using namespace actorflow;
using test::invalid_with;

namespace {

ClusterSpec example() { return {{"worker", {"w0:2222", "w1:2222"}}, {"ps", {"p0:2222"}}}; }

}  // namespace

BOOST_AUTO_TEST_CASE(tasks_are_found_by_job_and_index) {
  const ClusterSpec cluster = example();
  BOOST_TEST(cluster.jobs() == (std::vector<std::string>{"ps", "worker"}),
             boost::test_tools::per_element());
  BOOST_TEST(cluster.num_tasks("worker") == 2);
  BOOST_TEST(cluster.address({"worker", 1}) == "w1:2222");
  BOOST_TEST(cluster.contains({"ps", 0}));
  BOOST_TEST(!cluster.contains({"ps", 1}));
  BOOST_TEST((cluster.all_tasks() == std::vector<TaskName>{{"ps", 0}, {"worker", 0}, {"worker", 1}}));
}

BOOST_AUTO_TEST_CASE(a_sparse_job_keeps_its_indices) {
  const ClusterSpec cluster(ClusterSpec::Jobs{{"worker", {{1, "w1:1"}, {4, "w4:1"}}}});
  BOOST_TEST(cluster.address({"worker", 4}) == "w4:1");
  BOOST_CHECK_EXCEPTION(cluster.address({"worker", 0}), Error, invalid_with({"task index 0", "1, 4"}));
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_named_with_what_is) {
  const ClusterSpec cluster = example();
  BOOST_CHECK_EXCEPTION(cluster.address({"worker", 5}), Error,
                        invalid_with({"task index 5 is outside job 'worker', which has 2 tasks"}));
  BOOST_CHECK_EXCEPTION(cluster.tasks("wroker"), Error,
                        invalid_with({"'wroker'", "'ps', 'worker'", "did you mean 'worker'?"}));
  BOOST_CHECK_EXCEPTION(ClusterSpec().tasks("ps"), Error, invalid_with({"no jobs"}));
}

BOOST_AUTO_TEST_CASE(all_mistakes_are_reported_together) {
  const auto make = [] {
    return ClusterSpec{
        {"", {"h:1"}}, {"a b", {"h:2"}}, {"ps", {}}, {"w", {"h", "h:1", "h:70000"}}, {"w", {"h:9"}}};
  };
  BOOST_CHECK_EXCEPTION(
      make(), Error,
      invalid_with({"job name ''", "job name 'a b'", "'ps' has no tasks", "'h' is malformed",
                    "/job:w/task:1 has the address 'h:1' of /job:/task:0", "'h:70000' is malformed",
                    "'w' is named twice"}));
  BOOST_CHECK_EXCEPTION(ClusterSpec(ClusterSpec::Jobs{{"ps", {{-1, "h:1"}}}}), Error,
                        invalid_with({"index -1 below 0"}));
  BOOST_CHECK_EXCEPTION((ClusterSpec{{"ps", {"host:1", "Host:01"}}}), Error,
                        invalid_with({"'Host:01' of /job:ps/task:0"}));
}

BOOST_AUTO_TEST_CASE(several_tasks_may_leave_their_port_open) {
  const ClusterSpec cluster{{"worker", {"localhost:0", "localhost:0"}}};
  BOOST_TEST(cluster.num_tasks("worker") == 2);
}

BOOST_AUTO_TEST_CASE(addresses_have_a_host_and_a_port) {
  BOOST_TEST(HostPort::parse("localhost:0").host == "localhost");
  BOOST_TEST(HostPort::parse("10.0.0.1:65535").port == 65535);
  BOOST_TEST(HostPort::parse("[::1]:2222").host == "::1");
  for (const char* text :
       {"", ":", "h", "h:", ":1", "h:-1", "h:65536", "h:1x", "::1:22", "[]:1", "[::1]", "a b:1"})
    BOOST_CHECK_EXCEPTION(HostPort::parse(text), Error,
                          invalid_with({"'" + std::string(text) + "' is malformed"}));
}

BOOST_AUTO_TEST_CASE(a_flag_lists_hosts) {
  const std::vector<std::string> expected = {"h1:1", "h2:2"};
  BOOST_TEST(ClusterSpec::parse_hosts("--ps_hosts", "h1:1,h2:2") == expected,
             boost::test_tools::per_element());
  BOOST_TEST(ClusterSpec::parse_hosts("--ps_hosts", "").empty());
  BOOST_CHECK_EXCEPTION(ClusterSpec::parse_hosts("--ps_hosts", "h1,h2:2,"), Error,
                        invalid_with({"--ps_hosts: the address 'h1'", "--ps_hosts: the address ''"}));
}

BOOST_AUTO_TEST_SUITE_END()
