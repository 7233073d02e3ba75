#include "apps/launch/allocation.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(allocation)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Variables = std::map<std::string, std::string>;
using Hosts = std::vector<LaunchHost>;

Hosts hosts_in(const Variables& variables) {
  return allocated_hosts([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// What salloc tells its command.
Variables given(const std::string& hosts, const std::string& tasks) {
  return {{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_NODELIST", hosts}, {"SLURM_TASKS_PER_NODE", tasks}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_machine_has_a_slot_for_each_task) {
  BOOST_TEST(
      (hosts_in(given("n[08-10],gpu1", "2(x3),1")) ==
       Hosts{{"n08", "", 2, true}, {"n09", "", 2, true}, {"n10", "", 2, true}, {"gpu1", "", 1, true}}));
  BOOST_TEST((hosts_in(given("a", "4")) == Hosts{{"a", "", 4, true}}));
}

BOOST_AUTO_TEST_CASE(without_an_allocation_and_in_a_rank_of_several_there_are_none) {
  BOOST_TEST(hosts_in({}).empty());
  Variables rank = given("a,b", "1(x2)");
  rank["SLURM_STEP_NUM_TASKS"] = "2";
  BOOST_TEST(hosts_in(rank).empty());
}

BOOST_AUTO_TEST_CASE(in_an_interactive_shell_each_machine_has_a_slot_for_each_processor) {
  Variables shell = given("a,b", "1");
  shell["SLURM_STEP_NUM_TASKS"] = "1";
  shell["SLURM_JOB_CPUS_PER_NODE"] = "3,1";
  BOOST_TEST((hosts_in(shell) == Hosts{{"a", "", 3, true}, {"b", "", 1, true}}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_understood_is_named) {
  for (const char* tasks : {"", "x", "0(x2)", "1", "1,1,1", "1(x3)", "1(x2", "1(x0),1", "1,1,", "-1,1"})
    BOOST_CHECK_EXCEPTION(hosts_in(given("a,b", tasks)), Error,
                          says("SLURM_TASKS_PER_NODE is '" + std::string(tasks) + "', but expected"));
  BOOST_CHECK_EXCEPTION(hosts_in(given("a[1", "1")), Error, says("'a[1' is no list of hosts"));
}

// Of the job, which a step would repeat.
BOOST_AUTO_TEST_CASE(requests_are_told_from_what_srun_and_the_tasks_need) {
  for (const char* request : {"SLURM_GPUS=8", "SLURM_GPUS_PER_TASK=1", "SLURM_NTASKS_PER_GPU=1",
                              "SLURM_NTASKS_PER_NODE=4", "SLURM_EXACT=", "SLURM_EXCLUSIVE=1",
                              "SLURM_MEM_PER_CPU=100", "SLURM_MEM_PER_GPU=100", "SLURM_LABELIO=1"})
    BOOST_TEST(is_request_to_srun(request), request);
  for (const char* other : {"SLURM_JOB_ID=17", "SLURM_CONF=/etc/slurm.conf", "SLURM_JOB_NODELIST=a",
                            "SLURM_GPUS_ON_NODE=8", "GPUS=SLURM_GPUS", "PATH=/bin"})
    BOOST_TEST(!is_request_to_srun(other), other);
}

BOOST_AUTO_TEST_SUITE_END()
