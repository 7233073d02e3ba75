#include "bench/scale/shuffle.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "actors/jobs/job.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/world/world.h"
#include "bench/harness.h"
#include "bench/scale/peak_memory.h"
#include "bench/scale/virtual_time.h"

namespace actorflow::bench {
namespace {

using namespace std::chrono_literals;

using Block = std::uint64_t;  // in the place of all of its bytes

// The simulation that runs, for the job's function, which is a plain one.
struct Running {
  explicit Running(const ShuffleJob& of)
      : job(of),
        sim({{"worker", of.tasks}}, {.links = of.links,
                                     .longest_kernel = std::chrono::nanoseconds(0),
                                     .time_limit = std::chrono::hours(24)}) {
    sim.network().set_payload_scale(job.block_bytes() / sizeof(Block));
  }

  void compute(double bytes) {
    const double time_s = bytes / job.computed_per_second;
    sim.world().charge(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * time_s)));
  }
  void count(std::vector<int>& by_task) { ++by_task[static_cast<std::size_t>(sim.world().current())]; }
  // The most that one task has, of what each would have if all shared `all` evenly.
  double most_of_share(const std::vector<int>& by_task, double all) const {
    return std::ranges::max(by_task) * job.tasks / all;
  }
  struct Moment {
    std::chrono::nanoseconds time{0}, coordinator{0}, other{0};
    std::uint64_t messages = 0;
  };
  Moment now() {
    auto& network = sim.network();
    return {sim.world().elapsed(), network.handling(0), network.handling(job.tasks - 1),
            network.messages()};
  }

  const ShuffleJob& job;
  std::vector<int> parts_made = std::vector<int>(static_cast<std::size_t>(job.tasks));  // by task
  std::vector<int> blocks_read = parts_made;                                            // by task
  SimCluster sim;
  Moment began, ended;
};
Running* running = nullptr;

std::vector<int> numbers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Pseudo-random numbers, which no codec shrinks.
std::vector<Block> blocks_of(int part, std::size_t count) {
  SeededRandom random(static_cast<std::uint64_t>(part));
  std::vector<Block> blocks(count);
  std::ranges::generate(blocks, [&] { return random.next(); });
  return blocks;
}

// Until all tasks take part.
void warm_up(Job& job, int tasks) {
  const auto parts = numbers(4 * tasks);
  job.from(parts, parts.size())
      .map([](int part) {
        running->sim.world().charge(100ms);
        return part;
      })
      .count();
}

// Every part has a block for each partition, where it is counted.
void shuffle(Job& job) {
  const ShuffleJob& what = running->job;
  warm_up(job, what.tasks);
  if (job.coordinates()) running->began = running->now();
  const auto parts = numbers(what.parts);
  const auto partitions = static_cast<std::size_t>(what.partitions);
  const auto blocks =
      job.from(parts, parts.size())
          .flat_map([partitions](int part) {
            running->compute(running->job.block_bytes() * static_cast<double>(partitions));
            running->count(running->parts_made);
            return blocks_of(part, partitions);
          })
          .partition_by(partitions)
          .map([](Block block) {
            running->compute(running->job.block_bytes());
            running->count(running->blocks_read);
            return block;
          })
          .count();
  if (job.coordinates()) running->ended = running->now();
  if (blocks != parts.size() * partitions) throw Error(Code::internal, "blocks are missing");
}

}  // namespace

ShuffleTimes simulate(const ShuffleJob& job) {
  ShuffleTimes times;
  reset_peak_memory();
  times.simulated_in_s = seconds_of([&] {
    Running here(job);
    running = &here;
    JobOptions options;
    options.threads = static_cast<std::size_t>(job.cores);
    here.sim
        .start([&options](SimTask& task) {
          run_job(task.server(), {{"shuffle", shuffle}}, "shuffle", options);
        })
        .finish();
    times.job_s = seconds(here.ended.time - here.began.time);
    times.coordinator_busy = seconds(here.ended.coordinator - here.began.coordinator) / times.job_s;
    times.other_busy = seconds(here.ended.other - here.began.other) / times.job_s;
    times.first_made = static_cast<double>(here.parts_made.front()) * job.tasks / job.parts;
    times.most_made = here.most_of_share(here.parts_made, job.parts);
    times.most_read =
        here.most_of_share(here.blocks_read, static_cast<double>(job.parts) * job.partitions);
    times.messages = static_cast<double>(here.ended.messages - here.began.messages);
  });
  times.peak_mib = peak_memory_mib();
  return times;
}

}  // namespace actorflow::bench
