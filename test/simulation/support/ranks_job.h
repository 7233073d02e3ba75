// Ranks that carry out operations drawn from a seed, and compare each result with a serial loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/collectives/communicator.h"
#include "actors/runtime/runtime.h"
#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_cluster.h"
#include "dataflow/collectives/schedule.h"
#include "test/support/contributions.h"

namespace actorflow::test {

// What has happened, beside the simulated world.
struct RanksSeen {
  std::set<int> ended;   // ranks whose program has come to its end
  std::set<int> failed;  // those among them that were told of an error
  int results = 0;
  Clock::time_point::duration longest{0};  // from the beginning of a rank's program to its end
};
// The heartbeat timeout, and what an error may take beyond it; opening ends before.
constexpr std::chrono::seconds longest_allowed{12}, opening_timeout{5};

struct RanksJob {
  int ranks = 3;
  Algorithm algorithm = Algorithm::automatic;
  std::vector<std::string> hosts{};  // of the ranks; none: each has its own
  int steps = 6;
  bool may_fail = false;  // with the error of a rank that was lost
};

class RankProgram {
 public:
  RankProgram(SimTask& task, std::uint64_t seed, const RanksJob& job, RanksSeen& seen)
      : task_(task),
        seed_(seed),
        world_(task.server(),
               {.hosts = job.hosts, .timeout = opening_timeout, .algorithm = job.algorithm}),
        seen_(seen) {}

  void run(int steps) {
    for (step_ = 0; step_ < steps; ++step_) {
      all_reduce();
      other_operation();
      // Ranks come at different times.
      task_.sleep(
          std::chrono::microseconds(draw(static_cast<std::uint64_t>(world_.rank()) + 17) % 2000));
    }
    uneven_end();
  }

 private:
  // The same on every rank.
  std::uint64_t draw(std::uint64_t what) const {
    std::uint64_t x =
        seed_ * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(step_) * 1000003U + what * 77777U;
    x ^= x >> 31;
    x *= 0xBF58476D1CE4E5B9U;
    return x ^ (x >> 29);
  }
  int salt() const { return static_cast<int>(draw(3) % 1000); }

  void expect(bool right, const std::string& what) const {
    if (!right)
      throw std::logic_error("rank " + std::to_string(world_.rank()) + ": wrong result of " + what +
                             " in step " + std::to_string(step_));
    ++seen_.results;
  }

  // Three in flight at a time; one of them large, so that small messages overtake it.
  void all_reduce() {
    const Shape large{static_cast<std::int64_t>(20'000 + draw(1) % 3)},
        small{static_cast<std::int64_t>(draw(2) % 9)};
    const auto first =
        world_.all_reduce_async(contribution<float>(world_.rank(), large, salt()), {.name = "large"});
    const bool compressed = draw(6) % 2 == 0;
    const auto third = world_.all_reduce_async(
        contribution<float>(world_.rank(), large, salt()),
        {.name = "third",
         .compression = compressed ? ReduceCompression::bfloat16 : ReduceCompression::none});
    const auto second =
        world_.all_reduce_async(contribution<double>(world_.rank(), small, salt()), {.name = "small"});
    expect(identical(second.wait(), serial<double>(world_.size(), small, salt())), "a small sum");
    expect(identical(third.wait(), compressed ? rounded_serial(world_.size(), large, salt())
                                              : serial<float>(world_.size(), large, salt())),
           "a sum that may be compressed");
    expect(identical(first.wait(), serial<float>(world_.size(), large, salt())), "a large sum");
  }

  void other_operation() {
    const int ranks = world_.size(),
              root = static_cast<int>(draw(5) % static_cast<std::uint64_t>(ranks));
    switch (draw(4) % 4) {
      case 0:
        return expect(identical(world_.broadcast(contribution<float>(world_.rank(), {50}, salt()), root),
                                contribution<float>(root, {50}, salt())),
                      "a broadcast");
      case 1: {
        const auto rows =
            world_.all_gather_async(Tensor::zeros(DType::int64, {world_.rank()})).wait_for_rows().rows;
        return expect(rows.back() == ranks - 1 && static_cast<int>(rows.size()) == ranks, "a gather");
      }
      case 2: {
        const Tensor part =
            world_.reduce_scatter(contribution<float>(world_.rank(), {ranks + 1, 3}, salt()));
        const Tensor sum = serial<float>(ranks, {ranks + 1, 3}, salt());
        const auto begin = slice_begin(ranks + 1, ranks, world_.rank()) * 3;
        return expect(
            std::ranges::equal(part.values<float>(),
                               sum.values<float>().subspan(static_cast<std::size_t>(begin),
                                                           static_cast<std::size_t>(part.elements()))),
            "a scattered sum");
      }
      default: {
        const auto got = world_.all_to_all(Tensor::of<std::int64_t>(
            {ranks}, std::vector<std::int64_t>(static_cast<std::size_t>(ranks), world_.rank())));
        for (int rank = 0; rank < ranks; ++rank)
          expect(got.tensor.values<std::int64_t>()[static_cast<std::size_t>(rank)] == rank,
                 "an all-to-all");
      }
    }
  }

  // Ranks with different amounts of data.
  void uneven_end() {
    for (step_ = 0; step_ <= world_.rank() % 3; ++step_) {
      const int there = ranks_with(step_);
      const Tensor sum = world_.all_reduce(Tensor{1.0F}, {.name = "uneven"});
      expect(sum.values<float>()[0] == static_cast<float>(there), "a sum with zeros");
    }
    world_.join();
    world_.barrier();
  }
  int ranks_with(int step) const {
    int count = 0;
    for (int rank = 0; rank < world_.size(); ++rank) count += step <= rank % 3 ? 1 : 0;
    return count;
  }

  SimTask& task_;
  const std::uint64_t seed_;
  const Communicator world_;
  RanksSeen& seen_;
  int step_ = 0;
};

inline bool tells_of_a_loss(const Error& error) {
  return error.code() == Code::unavailable || error.code() == Code::aborted ||
         error.code() == Code::deadline_exceeded || error.code() == Code::failed_precondition;
}

// A rank that dies comes back to do nothing.
inline void run_rank(SimTask& task, const RanksJob& job, std::uint64_t seed, RanksSeen& seen) {
  const int number = task.server().name().index;
  Clock& clock = task.server().runtime()->clock();
  const auto begin = clock.now();
  if (task.life() == 1) try {
      RankProgram(task, seed, job, seen).run(job.steps);
    } catch (const Error& error) {
      if (!job.may_fail || !tells_of_a_loss(error)) throw;
      seen.failed.insert(number);
    }
  seen.ended.insert(number);
  seen.longest = std::max(seen.longest, clock.now() - begin);
}

// A simulation with faults, of the running seed. A hang fails it.
inline RanksSeen simulate_ranks(const RanksJob& job, const std::vector<FaultKind>& kinds) {
  RanksSeen seen;
  const SimOptions options = of_this_seed({.time_limit = std::chrono::minutes(10)});
  SimCluster sim({{"worker", job.ranks}}, options);
  auto run = sim.start([&](SimTask& task) { run_rank(task, job, options.seed, seen); });
  std::vector<TaskName> tasks;
  for (int task = 0; task < job.ranks; ++task) tasks.push_back({"worker", task});
  const std::chrono::milliseconds until(100);
  if (!kinds.empty())
    sim.apply(random_fault_plan(
        options.seed, tasks,
        {.count = 3, .until = until, .longest = std::chrono::seconds(2), .kinds = kinds}));
  run.finish();
  if (static_cast<int>(seen.ended.size()) != job.ranks)
    throw std::logic_error("a rank has not come to its end");
  if (seen.longest > longest_allowed) throw std::logic_error("a rank has waited for too long");
  return seen;
}

// 1 to 4 hosts, of different numbers of ranks; now and then the ranks are on them in turn.
inline std::vector<std::string> hosts_of_seed(std::uint64_t seed, int ranks) {
  const int hosts = std::min(ranks, 1 + static_cast<int>(seed / 3 % 4));
  const int first = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(ranks - hosts + 1));
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks; ++rank) {
    int host = rank % hosts;
    if (seed % 7 != 0)
      host = rank < first ? 0 : 1 + (rank - first) * (hosts - 1) / std::max(1, ranks - first);
    all.push_back("host " + std::to_string(std::min(host, hosts - 1)));
  }
  return all;
}

// What varies with the seed: every algorithm, 2 to 9 ranks, their hosts.
inline RanksJob job_of_seed(std::uint64_t seed) {
  constexpr Algorithm algorithms[] = {Algorithm::automatic, Algorithm::direct,
                                      Algorithm::doubling,  Algorithm::rabenseifner,
                                      Algorithm::ring,      Algorithm::hierarchical};
  const int ranks = 2 + static_cast<int>(seed % 8);
  return {.ranks = ranks, .algorithm = algorithms[seed / 8 % 6], .hosts = hosts_of_seed(seed, ranks)};
}

}  // namespace actorflow::test
