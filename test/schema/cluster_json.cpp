#include "schema/cluster_json.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/values/error.h"
#include "test/support/folder.h"
#include "test/support/scoped_environment.h"

BOOST_AUTO_TEST_SUITE(cluster_json)

using namespace actorflow;

namespace {

auto complains(Code code, const std::string& word) {
  return [=](const Error& error) {
    return error.code() == code && std::string(error.what()).find(word) != std::string::npos;
  };
}

}  // namespace

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
  refused(R"({"ps": ["a:1")", "no JSON: parse error at line 1");
  refused(R"(["a:1"])", "not an object");
  refused(R"({"ps": "a:1"})", "'ps'");
  refused(R"({"ps": [1]})", "not a string: 1");
  refused(R"({"ps": {"first": "a:1"}})", "'first'");
  refused(R"({"ps": ["a"]})", "a");
  refused(R"({"ps": ["a:1"], "ps": ["b:2"]})", "\"ps\" is named twice");
  refused(R"({"ps": {"0": "a:1", "00": "b:2"}})", "task index 0 twice");
}

BOOST_AUTO_TEST_CASE(numbers_and_depths_without_end_are_refused) {
  const auto is_invalid = [](const Error& error) { return error.code() == Code::invalid_argument; };
  BOOST_CHECK_EXCEPTION(parse_cluster(R"({"ps": [1e999]})"), Error, is_invalid);
  BOOST_CHECK_EXCEPTION(parse_tf_config(R"({"task": {"index": 1e999}})"), Error, is_invalid);
  const std::string deep(100'000, '[');
  BOOST_CHECK_EXCEPTION(parse_cluster(deep), Error, is_invalid);
}

BOOST_AUTO_TEST_CASE(every_mistake_of_a_cluster_is_told_at_once) {
  const std::string text = R"({"ps": [17], "worker": {"first": "a:1"}, "eval": "b:1", "1x": ["c"]})";
  for (const char* word : {"17", "'first'", "'eval'", "'1x'", "'c'"})
    BOOST_CHECK_EXCEPTION(parse_cluster(text), Error, complains(Code::invalid_argument, word));
}

BOOST_AUTO_TEST_CASE(tf_config_names_a_task_and_its_role) {
  const auto config = [](const std::string& type, int index) {
    return parse_tf_config(R"({"cluster": {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"],
                                           "evaluator": ["e:1"]},
                               "task": {"type": ")" +
                           type + R"(", "index": )" + std::to_string(index) +
                           R"(}, "environment": "cloud"})");
  };
  const TaskConfig chief = config("chief", 0);
  BOOST_TEST(chief.is_chief());
  BOOST_TEST(chief.num_replicas() == 3);
  BOOST_TEST(chief.cluster.all_tasks().size() == 4u);
  BOOST_TEST(config("worker", 1).replica == 2);
  BOOST_TEST(!config("worker", 0).is_chief());
  BOOST_TEST(config("ps", 0).replica == -1);
  const TaskConfig evaluator = config("evaluator", 0);
  BOOST_TEST(evaluator.is_evaluator());
  BOOST_TEST(evaluator.replica == -1);
  BOOST_TEST((evaluator.chief() == TaskName{"chief", 0}));
}

BOOST_AUTO_TEST_CASE(without_a_chief_the_first_worker_is_the_chief) {
  const auto config = [](const char* job, const char* task) {
    return parse_tf_config(std::string(R"({"cluster": {"ps": ["p:1"], ")") + job +
                           R"(": {"3": "w:1"}, "worker": {"2": "w:2", "7": "w:3"}}, "task": )" + task +
                           "}");
  };
  BOOST_TEST(config("other", R"({"type": "worker", "index": 2})").is_chief());
  BOOST_TEST(config("other", R"({"type": "worker", "index": "7"})").replica == 1);
  BOOST_TEST(config("master", R"({"type": "master", "index": 3})").is_chief());
  BOOST_TEST(config("master", R"({"type": "worker", "index": 2})").replica == 1);
}

BOOST_AUTO_TEST_CASE(an_evaluator_needs_no_address) {
  BOOST_TEST(parse_tf_config(R"({"cluster": {"worker": ["w:1"]}, "task": {"type": "evaluator", "index": 0}})")
                 .is_evaluator());
}

BOOST_AUTO_TEST_CASE(tf_config_without_a_cluster_is_of_one_machine) {
  const auto is_set = [](const char* value) {
    const test::ScopedEnvironment variable("TF_CONFIG", value);
    return tf_config().has_value();
  };
  for (const char* alone : {"", "{}", R"({"cluster": {}, "task": {}})",
                            R"({"task": {"type": "master", "index": 0}, "environment": "cloud"})"})
    BOOST_TEST(!is_set(alone), alone);
  for (const char* given : {R"({"cluster": {"worker": ["a:1"]}})", "{", "[]"})
    BOOST_TEST(is_set(given), given);
}

BOOST_AUTO_TEST_CASE(every_mistake_of_tf_config_is_told_at_once) {
  const auto refused = [](const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words)
      BOOST_CHECK_EXCEPTION(parse_tf_config(text), Error, complains(Code::invalid_argument, word));
  };
  refused(R"({"cluster": {"chief": ["a:1"], "master": ["a:2"], "evaluator": ["a:3", "a:4"],
                          "ps": ["a", 5]},
              "task": {"type": "wroker", "index": 0}})",
          {"'chief' and a 'master'", "'evaluator' has 2", "'a'", "5", "'wroker'"});
  refused(R"({"cluster": {"worker": ["a:1"], "chief": ["a:2", "a:3"]},
              "task": {"type": "worker", "index": 1}})",
          {"index 1 is outside job 'worker'", "'chief' has 2"});
  refused(R"({"task": {"type": 3, "index": "x"}})", {"no object \"cluster\"", "got 3", "got \"x\""});
  refused(R"({"cluster": {"worker": ["a:1"]}})", {"no object \"task\"", "expected"});
  refused("{", {"TF_CONFIG", "line 1"});
}

BOOST_AUTO_TEST_SUITE_END()
