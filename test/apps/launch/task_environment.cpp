#include "apps/launch/task_environment.h"

#include <boost/test/unit_test.hpp>
#include <map>

#include "schema/cluster_json.h"

BOOST_AUTO_TEST_SUITE(task_environment)

using namespace actorflow;

namespace {

struct Planned {
  JobSpec spec;
  std::vector<LaunchedTask> tasks;
  JobAddresses addresses;
};

Planned planned() {
  Planned job;
  job.spec.command = {"program"};
  job.spec.hosts = {{"a", "", 1}, {"::1", "", 1}};
  job.spec.workers = 2;
  job.spec.ps = 1;
  job.spec.evaluator = true;
  job.tasks = lay_out(job.spec);
  for (std::size_t i = 0; i < job.tasks.size(); ++i)
    if (job.tasks[i].is_served()) job.tasks[i].port = static_cast<int>(2222 + i);
  job.addresses = {{"a", "::1"}, 3000};
  return job;
}

std::map<std::string, std::string> environment_of(const Planned& job, std::size_t task) {
  std::map<std::string, std::string> variables;
  for (const auto& variable : actorflow::task_environment(job.tasks, job.tasks[task], job.addresses))
    variables[variable.name] = variable.value;
  return variables;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tf_config_is_what_our_own_reader_reads) {
  const Planned job = planned();
  const TaskConfig worker = parse_tf_config(environment_of(job, 2).at("TF_CONFIG"));
  BOOST_TEST(worker.task.to_string() == "/job:worker/task:1");
  BOOST_TEST(worker.cluster.address({"ps", 0}) == "a:2222");
  BOOST_TEST(worker.cluster.address({"worker", 0}) == "a:2223");
  BOOST_TEST(worker.cluster.address({"worker", 1}) == "[::1]:2224");
  BOOST_TEST(parse_tf_config(environment_of(job, 0).at("TF_CONFIG")).cluster.jobs() ==
             worker.cluster.jobs());
  BOOST_TEST(parse_tf_config(environment_of(job, 3).at("TF_CONFIG")).is_evaluator());
}

BOOST_AUTO_TEST_CASE(ranks_have_numbers_and_a_master_and_others_have_none) {
  const Planned job = planned();
  const auto rank = environment_of(job, 2);
  BOOST_TEST(rank.at("RANK") == "1");
  BOOST_TEST(rank.at("WORLD_SIZE") == "2");
  BOOST_TEST(rank.at("LOCAL_RANK") == "0");
  BOOST_TEST(rank.at("LOCAL_WORLD_SIZE") == "1");
  BOOST_TEST(rank.at("GROUP_RANK") == "1");
  BOOST_TEST(rank.at("MASTER_ADDR") == "a");
  BOOST_TEST(rank.at("MASTER_PORT") == "3000");
  BOOST_TEST(rank.at("ACTORFLOW_RESTART_COUNT") == "0");
  for (const std::size_t other : {0, 3}) BOOST_TEST(!environment_of(job, other).contains("RANK"));
}

BOOST_AUTO_TEST_SUITE_END()
