// What launchers say in the environment of a process.
#include "schema/environment/launched_rank.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "dataflow/values/error.h"
#include "schema/environment/host_list.h"
#include "schema/environment/task_from_environment.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(launched_rank)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Variables = std::map<std::string, std::string>;

std::optional<LaunchedRank> rank_in(const Variables& variables) {
  return actorflow::launched_rank([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// What Slurm 22.05 sets for a task of `srun -n 4`.
Variables srun(const std::string& rank) {
  return {{"SLURM_PROCID", rank},        {"SLURM_LOCALID", rank},
          {"SLURM_NTASKS", "4"},         {"SLURM_STEP_ID", "0"},
          {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "1"},
          {"SLURM_JOB_ID", "17"},        {"SLURM_STEP_NODELIST", "n[07-08],x1"},
          {"SLURM_CLUSTER_NAME", "c"}};
}

// What Open MPI 4 and 5 set for a rank of `mpirun -np 4` on one machine.
Variables mpirun(const std::string& rank) {
  return {{"OMPI_COMM_WORLD_RANK", rank},
          {"OMPI_COMM_WORLD_SIZE", "4"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", rank},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
          {"PMIX_NAMESPACE", "prterun-vm-23685@1"}};
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_process_that_no_launcher_has_started_has_no_rank) {
  BOOST_TEST(!rank_in({}));
  BOOST_TEST(!rank_in({{"WORLD_SIZE", "4"}}));
}

BOOST_AUTO_TEST_CASE(an_allocation_and_a_batch_script_of_slurm_are_no_ranks) {
  BOOST_TEST(!rank_in({{"SLURM_JOB_ID", "17"}, {"SLURM_NTASKS", "4"}}));
  BOOST_TEST(!rank_in(
      {{"SLURM_JOB_ID", "17"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}}));
}

BOOST_AUTO_TEST_CASE(the_only_process_of_a_job_runs_alone) {
  BOOST_TEST(!rank_in(with(srun("0"), {{"SLURM_STEP_NUM_TASKS", "1"}})));
  BOOST_TEST(!rank_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
}

BOOST_AUTO_TEST_CASE(ranks_of_a_job_agree_where_they_meet_and_other_jobs_meet_elsewhere) {
  for (const auto& launcher : {srun, mpirun}) {
    const auto first = rank_in(launcher("0")), third = rank_in(launcher("2"));
    BOOST_REQUIRE((first && third));
    BOOST_TEST(first->rank == 0);
    BOOST_TEST(third->rank == 2);
    BOOST_TEST(third->size == 4);
    BOOST_TEST(first->host == "127.0.0.1");
    BOOST_TEST(third->host == first->host);
    BOOST_TEST((third->ports == first->ports));
    BOOST_TEST(first->ports.size() > 1u);
    BOOST_TEST(third->job == first->job);
  }
  BOOST_TEST(rank_in(with(srun("1"), {{"SLURM_STEP_ID", "1"}}))->job != rank_in(srun("1"))->job);
  BOOST_TEST(rank_in(with(srun("1"), {{"SLURM_RESTART_COUNT", "1"}}))->job != rank_in(srun("1"))->job);
  BOOST_TEST(rank_in(with(mpirun("1"), {{"PMIX_NAMESPACE", "x"}}))->job != rank_in(mpirun("1"))->job);
}

BOOST_AUTO_TEST_CASE(rank_0_is_on_the_first_machine_of_a_step_unless_master_addr_says_otherwise) {
  const Variables two_machines = with(srun("3"), {{"SLURM_STEP_NUM_NODES", "2"}});
  BOOST_TEST(rank_in(two_machines)->host == "n07");
  const auto told = rank_in(with(two_machines, {{"MASTER_ADDR", "10.0.0.7"}, {"MASTER_PORT", "29500"}}));
  BOOST_TEST(told->host == "10.0.0.7");
  BOOST_TEST((told->ports == std::vector<std::uint16_t>{29'500}));
}

BOOST_AUTO_TEST_CASE(the_innermost_launcher_counts) {
  const Variables both = with(srun("0"), mpirun("3"));
  BOOST_TEST(rank_in(both)->rank == 3);
  const auto all = rank_in(with(
      both,
      {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "29500"}}));
  BOOST_TEST(all->rank == 1);
  BOOST_TEST(all->size == 2);
}

BOOST_AUTO_TEST_CASE(torchrun_has_master_port_for_itself) {
  const Variables torchrun = {{"RANK", "1"},
                              {"WORLD_SIZE", "2"},
                              {"MASTER_ADDR", "localhost"},
                              {"MASTER_PORT", "29500"},
                              {"TORCHELASTIC_RUN_ID", "none"}};
  const auto rank = rank_in(torchrun);
  for (const auto port : rank->ports) BOOST_TEST(port != 29'500);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_names_the_variable_its_value_and_what_to_do) {
  const auto refused = [](const Variables& variables, const char* word) {
    BOOST_CHECK_EXCEPTION(rank_in(variables), Error, says(word));
  };
  refused(with(mpirun("4"), {}), "OMPI_COMM_WORLD_RANK is '4', but expected is a number from 0 to 3");
  refused(with(mpirun("one"), {}), "OMPI_COMM_WORLD_RANK is 'one'");
  refused(with(mpirun("0"), {{"OMPI_COMM_WORLD_SIZE", "-2"}}), "OMPI_COMM_WORLD_SIZE is '-2'");
  refused(with(mpirun("0"), {{"MASTER_PORT", "99999"}}), "MASTER_PORT is '99999'");
  refused(with(mpirun("0"), {{"ACTORFLOW_PS", "4"}}), "ACTORFLOW_PS is '4'");
  refused(with(mpirun("0"), {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}), "-x MASTER_ADDR=host1");
}

BOOST_AUTO_TEST_CASE(the_last_ranks_are_the_parameter_servers) {
  const auto rank = rank_in(with(mpirun("3"), {{"ACTORFLOW_PS", "1"}}));
  const TaskConfig task = task_of_rank(*rank, {"a:1", "b:2", "c:3", "d:4"});
  BOOST_TEST(task.task.to_string() == "/job:ps/task:0");
  BOOST_TEST(task.cluster.address({"worker", 2}) == "c:3");
  BOOST_TEST(task.cluster.address({"ps", 0}) == "d:4");
}

BOOST_AUTO_TEST_CASE(the_first_machine_of_slurms_lists) {
  BOOST_TEST(first_host("vm") == "vm");
  BOOST_TEST(first_host("a,b") == "a");
  BOOST_TEST(first_host("node[01-04,7],x") == "node01");
  BOOST_TEST(first_host("rack[3,5]-n[2-9].lan") == "rack3-n2.lan");
  for (const char* wrong : {"", "a[1", "a]", "a[[1]]"})
    BOOST_CHECK_EXCEPTION(first_host(wrong), Error, says("is no list of hosts"));
}

BOOST_AUTO_TEST_CASE(all_machines_of_slurms_lists) {
  using Names = std::vector<std::string>;
  BOOST_TEST((all_hosts("vm") == Names{"vm"}));
  BOOST_TEST((all_hosts("a,node[08-10,3],b.lan") ==
              Names{"a", "node08", "node09", "node10", "node3", "b.lan"}));
  BOOST_TEST((all_hosts("r[1-2]-n[5,7]") == Names{"r1-n5", "r1-n7", "r2-n5", "r2-n7"}));
  BOOST_TEST((all_hosts("a[18446744073709551615]") == Names{"a18446744073709551615"}));
  BOOST_TEST(all_hosts("a[0-49999,50000-99999]").size() == 100'000u);
  BOOST_TEST(all_hosts("a[0-9][0-9999]").size() == 100'000u);
  for (const char* wrong : {"", "a,", ",a", "a[1", "a]", "a]1[", "a[[1]]", "a[]", "a[x]", "a[3-2]",
                            "a[1-]", "a[1,]x,", "a[0-999999]", "a[0-999][0-999]", "a[0-99999,7]",
                            "a[0-18446744073709551615]", "a[0-9][0-10000]", "a[0-99999],b"})
    BOOST_CHECK_EXCEPTION(all_hosts(wrong), Error, says("is no list of hosts"));
  std::string deep = "a,n";
  for (int i = 0; i < 50'000; ++i) deep += "[1]";
  BOOST_CHECK_EXCEPTION(all_hosts(deep), Error,
                        says("expected at most 16 brackets in a name, got 50000 in 'n[1][1]"));
}

BOOST_AUTO_TEST_SUITE_END()
