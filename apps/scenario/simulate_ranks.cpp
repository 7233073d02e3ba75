#include "apps/scenario/simulate_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/collectives/communicator.h"
#include "apps/cli/program.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr std::array algorithms{Algorithm::automatic,    Algorithm::direct, Algorithm::doubling,
                                Algorithm::rabenseifner, Algorithm::ring,   Algorithm::hierarchical};

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9U;
  return x ^ (x >> 29);
}

// What a seed decides.
struct RanksPlan {
  int ranks, rounds;
  Algorithm algorithm;
  std::vector<std::string> members, hosts;
};

RanksPlan plan_of(const ScenarioFlags& flags, std::uint64_t seed) {
  RanksPlan plan{2 + static_cast<int>(seed % static_cast<std::uint64_t>(flags.ranks - 1)),
                 flags.rounds,
                 algorithms[mixed(seed) % algorithms.size()],
                 {},
                 {}};
  for (const Algorithm algorithm : algorithms)
    if (to_string(algorithm) == flags.algorithm) plan.algorithm = algorithm;
  const int ranks_of_host = 1 + static_cast<int>(mixed(seed + 1) % 4);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    plan.members.push_back(TaskName{"worker", rank}.to_string());
    plan.hosts.push_back(fmt::format("host {}", rank / ranks_of_host));
  }
  return plan;
}

// Numbers of very different sizes, so that a sum depends on its order.
template <class T>
Tensor contribution(int rank, std::int64_t round, std::int64_t elements) {
  Tensor tensor = Tensor::allocate(dtype_of<T>, {elements});
  auto state = mixed(static_cast<std::uint64_t>(1000 * round + rank + 1));
  for (T& value : tensor.mutable_values<T>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto bits = static_cast<std::int32_t>(state >> 40) - (1 << 23);
    value = static_cast<T>(bits) * (state >> 63 ? T(1) : T(1e-3));
  }
  return tensor;
}

template <class T>
Tensor serial_sum(int ranks, std::int64_t round, std::int64_t elements) {
  Tensor sum = contribution<T>(0, round, elements);
  for (int rank = 1; rank < ranks; ++rank) {
    const Tensor more = contribution<T>(rank, round, elements);
    std::ranges::transform(sum.values<T>(), more.values<T>(), sum.mutable_values<T>().begin(),
                           std::plus<T>());
  }
  return sum;
}

template <class T>
void sum_once(const Communicator& world, std::int64_t round, std::int64_t elements) {
  const std::string name = fmt::format("{} of {}", to_string(dtype_of<T>), elements);
  const Tensor sum = world.all_reduce(contribution<T>(world.rank(), round, elements), {.name = name});
  if (!identical(sum, serial_sum<T>(world.size(), round, elements)))
    throw Error(Code::internal, fmt::format("rank {}: in round {} the sum of {} numbers {} has other "
                                            "bits than that of a loop over the ranks",
                                            world.rank(), round, elements, to_string(dtype_of<T>)));
}

bool tells_of_a_loss(const Error& error) {
  return error.code() == Code::unavailable || error.code() == Code::aborted ||
         error.code() == Code::deadline_exceeded || error.code() == Code::cancelled ||
         error.code() == Code::failed_precondition;
}

// From the round that the rank which has come furthest is at.
void run_rounds(SimTask& task, const RanksPlan& plan, std::int64_t& round) {
  const Communicator world(
      task.server(),
      {.members = plan.members, .hosts = plan.hosts, .timeout = 20s, .algorithm = plan.algorithm});
  const ReduceOptions furthest{.name = "round", .reduction = ReduceOp::max};
  round = world.all_reduce(Tensor::scalar(round), furthest).scalar<std::int64_t>();
  for (; round < plan.rounds; ++round) {
    sum_once<float>(world, round, 1 + round % 5);
    sum_once<double>(world, round, 1'000);
    sum_once<float>(world, round, 9'000 + round);  // several chunks
    task.sleep(std::chrono::microseconds(mixed(static_cast<std::uint64_t>(round)) % 20'000));
  }
  world.barrier();
}

struct RanksSeen {
  bool done = false;
  std::string mistake;  // a program that fails is started again, which would hide it
};

// A task that comes back when all rounds are done finds nobody.
void run_rank(SimTask& task, const RanksPlan& plan, RanksSeen& seen) {
  if (task.server().name().index >= plan.ranks) return;
  for (std::int64_t round = 0; !seen.done;) try {
      run_rounds(task, plan, round);
      seen.done = true;
    } catch (const Error& error) {
      if (!tells_of_a_loss(error)) seen = {true, error.what()};
      task.sleep(50ms);
    }
}

}  // namespace

void check_algorithm(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Algorithm algorithm : algorithms) names.push_back(to_string(algorithm));
  if (name.empty() || std::ranges::find(names, name) != names.end()) return;
  throw UsageError(fmt::format("algorithm: expected one of {}, got '{}'", fmt::join(names, ", "), name));
}

SimulatedJob simulate_ranks(const Scenario& scenario, const SimOptions& options,
                            const FaultPlan& faults) {
  const RanksPlan plan = plan_of(scenario.flags(), options.seed);
  RanksSeen seen;
  SimCluster sim(scenario.jobs(), options);
  auto programs = sim.start([&](SimTask& task) { run_rank(task, plan, seen); });
  sim.apply(faults);
  programs.finish();
  if (!seen.mistake.empty()) throw Error(Code::internal, seen.mistake + "\n" + sim.last_lines());
  if (!seen.done) throw Error(Code::internal, "all tasks have ended before all rounds were done");
  SimulatedJob job;
  job.statistics = sim.statistics();
  job.trace_hash = sim.trace_hash();
  job.last_lines = sim.last_lines();
  return job;
}

}  // namespace actorflow
