#include "apps/cli/cluster_file.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/error.h"
#include "test/apps/support/folder.h"

using namespace actorflow;

namespace {

auto complains(Code code, const std::string& word) {
  return [=](const Error& error) {
    return error.code() == code && std::string(error.what()).find(word) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cluster_file)

BOOST_AUTO_TEST_CASE(jobs_are_lists_or_maps_of_addresses) {
  const ClusterSpec cluster =
      parse_cluster(R"({"ps": ["a:1", "b:2"], "worker": {"0": "c:3", "5": "d:4"}})");
  BOOST_TEST(cluster.address({"ps", 1}) == "b:2");
  BOOST_TEST(cluster.address({"worker", 5}) == "d:4");
  BOOST_TEST(!cluster.contains({"worker", 1}));
}

BOOST_AUTO_TEST_CASE(a_member_named_cluster_is_taken) {
  const ClusterSpec cluster =
      parse_cluster(R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}})");
  BOOST_TEST((cluster == ClusterSpec{{"ps", {"a:1"}}}));
}

BOOST_AUTO_TEST_CASE(text_and_file_are_told_apart) {
  const test::Folder folder;
  test::write_file(folder.file("cluster.json"), R"({"ps": ["a:1"]})");
  BOOST_TEST((read_cluster(folder.file("cluster.json")) == read_cluster(R"(  {"ps": ["a:1"]})")));
  BOOST_CHECK_EXCEPTION(read_cluster(folder.file("none.json")), Error,
                        complains(Code::not_found, "none.json"));
}

BOOST_AUTO_TEST_CASE(mistakes_say_where_they_are) {
  const auto refused = [](const std::string& text, const std::string& word) {
    BOOST_CHECK_EXCEPTION(parse_cluster(text), Error, complains(Code::invalid_argument, word));
  };
  refused(R"({"ps": ["a:1")", "line 1");
  refused(R"(["a:1"])", "not an object");
  refused(R"({"ps": "a:1"})", "'ps'");
  refused(R"({"ps": [1]})", "not a string: 1");
  refused(R"({"ps": {"first": "a:1"}})", "'first'");
  refused(R"({"ps": ["a"]})", "a");
}

BOOST_AUTO_TEST_SUITE_END()
