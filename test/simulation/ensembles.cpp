// The members of an ensemble as parts of a job in a simulated cluster whose tasks are killed, cut off
// and stopped: all of them come, each as an undisturbed run makes it.
#include <boost/test/unit_test.hpp>

#include "actors/ensembles/logistic_regression.h"
#include "actors/ensembles/member_record.h"
#include "actors/ensembles/samples.h"
#include "actors/jobs/job.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(ensembles)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t rows = 30, members = 8;

int trainings = 0, runs = 0;  // of all seeds

// A model waits for threads, which a simulation has not: a member is a regression on a sample instead.
std::vector<MemberRecord> train(const MemberWork& work) {
  ++trainings;
  std::vector<double> x;
  std::vector<std::int64_t> y;
  for (const std::int64_t row : bootstrap_sample(rows, rows, static_cast<std::uint64_t>(work.member))) {
    x.push_back(static_cast<double>(row * 7 % 11));
    y.push_back(row % 11 > 5);
  }
  const auto regression = fit_logistic_regression(Tensor::of<double>({rows, 1}, x), y, 2, 1);
  MemberRecord record;
  record.work = work;
  record.weights = {stored_tensor("weights", regression.weights),
                    stored_tensor("bias", regression.bias)};
  return {record};
}

// Of all members in their order: bits of their weights.
using Learned = std::vector<std::string>;

Learned learn_in(Job& job) {
  std::vector<MemberWork> work;
  for (std::int64_t member = 0; member < members; ++member) work.push_back({member});
  Learned learned;
  for (const MemberRecord& record : train_members(job, work, train))
    for (const StoredTensor& tensor : record.weights) learned.push_back(tensor.bytes);
  return learned;
}

const Learned& undisturbed() {
  static const Learned learned = [] {
    Learned all;
    for (std::int64_t member = 0; member < members; ++member)
      for (const auto& record : train({member}))
        for (const StoredTensor& tensor : record.weights) all.push_back(tensor.bytes);
    return all;
  }();
  return learned;
}

bool has_ended = false;  // of the run: a task that comes back then finds nobody who knows the job

void check(Job& job) {
  if (learn_in(job) != undisturbed()) throw std::runtime_error("a member is another one");
  has_ended = has_ended || job.coordinates();
}

void run_task(SimTask& task) {
  if (has_ended) return;
  JobOptions options;
  options.threads = 2;
  options.memory_bytes = std::size_t{128} << 20;
  options.spill_folder = "spills";
  try {
    run_job(task.server(), {{"members", check}}, "members", options);
  } catch (const Error& error) {
    if (error.code() != Code::unavailable || !has_ended) throw;
  }
}

void learn_through(const std::vector<FaultKind>& kinds) {
  SimOptions options = of_this_seed({});
  options.restart_failed = 1s;
  options.longest_kernel = 4ms;
  has_ended = false;
  ++runs;
  SimCluster sim({{"worker", 4}}, options);
  sim.apply(random_fault_plan(options.seed, sim.cluster().all_tasks(),
                              {.count = 4, .until = 60ms, .longest = 200ms, .kinds = kinds}));
  auto run = sim.start(run_task);
  run.finish("/job:worker/task:0");
  if (!has_ended) throw std::runtime_error("the job has not ended");
}

}  // namespace

SIMULATION_TEST(lost_tasks_change_no_member, seeds(1, 100)) {
  learn_through({FaultKind::kill, FaultKind::pause, FaultKind::partition});
}

SIMULATION_TEST(repeated_messages_and_bad_disks_change_no_member, seeds(1, 50)) {
  learn_through({FaultKind::duplicate, FaultKind::disk_errors, FaultKind::kill});
}

BOOST_AUTO_TEST_CASE(members_of_lost_tasks_are_trained_again) {
  BOOST_TEST(runs > 0);
  BOOST_TEST(trainings > (runs + 1) * members);
  BOOST_TEST_MESSAGE(trainings << " trainings of " << members << " members in " << runs << " runs");
}

BOOST_AUTO_TEST_SUITE_END()
