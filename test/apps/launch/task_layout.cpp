#include "apps/launch/task_layout.h"

#include <boost/test/unit_test.hpp>

#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(task_layout)

using namespace actorflow;
using namespace actorflow::test;

namespace {

JobSpec job(int workers, std::vector<LaunchHost> hosts = {}) {
  JobSpec spec;
  spec.command = {"program"};
  spec.workers = workers;
  spec.hosts = std::move(hosts);
  return spec;
}

std::vector<RankNumbers> numbers_of(const JobSpec& spec) {
  std::vector<RankNumbers> numbers;
  for (const auto& task : lay_out(spec))
    if (task.rank) numbers.push_back(*task.rank);
  return numbers;
}

// "ps 0@0" and so on: each task and its host.
std::string places(const JobSpec& spec) {
  std::string text;
  for (const auto& task : lay_out(spec))
    text += (text.empty() ? "" : ", ") + task.label() + "@" + std::to_string(task.host);
  return text;
}

std::string gpus(const JobSpec& spec) {
  std::string text;
  for (const auto& task : lay_out(spec)) {
    text += task.label() + ":";
    for (const int gpu : task.gpus.value_or(std::vector{-1})) text += " " + std::to_string(gpu);
    text += "; ";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(hosts_are_filled_in_order_and_ranks_count_as_in_horovod) {
  const auto numbers = numbers_of(job(3, {{"a", "", 1}, {"b", "", 2}}));
  const std::vector<RankNumbers> expected{
      {0, 3, 0, 1, 0, 2, 0, 2}, {1, 3, 0, 2, 1, 2, 1, 2}, {2, 3, 1, 2, 0, 1, 1, 2}};
  BOOST_TEST((numbers == expected));
}

BOOST_AUTO_TEST_CASE(a_host_without_workers_is_in_no_group) {
  const auto numbers = numbers_of(job(2, {{"a", "", 2}, {"b", "", 2}}));
  BOOST_TEST((numbers == std::vector<RankNumbers>{{0, 2, 0, 2, 0, 1, 0, 1}, {1, 2, 1, 2, 0, 1, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(too_few_slots_are_refused_with_both_numbers) {
  BOOST_CHECK_EXCEPTION(
      lay_out(job(4, {{"a", "", 1}, {"b", "", 2}})), Error,
      says("Requested more processes (4) than there are available slots (3); name more hosts or slots, "
           "as in -H b:3"));
  BOOST_CHECK_EXCEPTION(lay_out(job(4, {{"a", "", 1, true}})), Error,
                        says("slots (1); have Slurm allocate more, as in salloc -n 4"));
}

BOOST_AUTO_TEST_CASE(without_hosts_this_machine_takes_all) {
  BOOST_TEST(places(job(3)) == "worker 0@0, worker 1@0, worker 2@0");
}

BOOST_AUTO_TEST_CASE(parameter_servers_are_spread_and_the_evaluator_is_last) {
  JobSpec spec = job(2, {{"a", "", 1}, {"b", "", 1}});
  spec.ps = 3;
  spec.chief = spec.evaluator = true;
  BOOST_TEST(places(spec) == "ps 0@0, ps 1@1, ps 2@0, chief 0@0, worker 0@1, evaluator 0@1");
  BOOST_TEST(!lay_out(spec)[0].rank);
  BOOST_TEST(lay_out(spec)[3].rank->rank == 0);
  BOOST_TEST(lay_out(spec)[4].rank->world_size == 2);
}

BOOST_AUTO_TEST_CASE(hybrid_has_a_ps_and_a_worker_on_each_host) {
  JobSpec spec = job(1, {{"a", "", 4}, {"b", "", 1}});
  spec.hybrid = true;
  spec.num_gpus = 2;
  BOOST_TEST(places(spec) == "ps 0@0, ps 1@1, worker 0@0, worker 1@1");
  BOOST_TEST(gpus(spec) == "ps 0:; ps 1:; worker 0: 0 1; worker 1: 0 1; ");
}

BOOST_AUTO_TEST_CASE(gpus_are_divided_among_the_workers_of_a_host) {
  JobSpec spec = job(3, {{"a", "", 3}});
  spec.num_gpus = 4;
  BOOST_TEST(gpus(spec) == "worker 0: 0; worker 1: 1; worker 2: 2 3; ");
  spec.num_gpus = 2;
  BOOST_CHECK_EXCEPTION(lay_out(spec), Error,
                        says("3 workers on a host cannot divide its GPUs: --num_gpus is 2"));
  spec.num_gpus = 0;
  BOOST_TEST(gpus(spec) == "worker 0:; worker 1:; worker 2:; ");
  spec.num_gpus.reset();
  BOOST_TEST(gpus(spec) == "worker 0: -1; worker 1: -1; worker 2: -1; ");
}

BOOST_AUTO_TEST_SUITE_END()
