#include "bench/scale/shuffle.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "actors/jobs/job.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/world.h"
#include "bench/harness.h"
#include "bench/scale/peak_memory.h"

namespace actorflow::bench {
namespace {

using Block = std::uint64_t;  // in the place of all of its bytes

// Every block goes to a partition of its own, and is counted there.
void shuffle(Job& job) {
  std::vector<int> parts(static_cast<std::size_t>(job.param("parts", 1)));
  std::iota(parts.begin(), parts.end(), 0);
  const auto partitions = static_cast<std::size_t>(job.param("partitions", 1));
  const auto blocks = job.from(parts, parts.size())
                          .flat_map([partitions](int part) {
                            return std::vector<Block>(partitions, static_cast<Block>(part));
                          })
                          .partition_by(partitions)
                          .count();
  if (blocks != parts.size() * partitions) throw Error(Code::internal, "blocks are missing");
}

JobOptions options_of(const ShuffleJob& job) {
  JobOptions options;
  options.parameters = {{"parts", std::to_string(job.parts)},
                        {"partitions", std::to_string(job.partitions)}};
  options.threads = static_cast<std::size_t>(job.threads);
  return options;
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

ShuffleTimes simulate(const ShuffleJob& job) {
  using namespace std::chrono_literals;
  ShuffleTimes times;
  reset_peak_memory();
  times.simulated_in_s = seconds_of([&] {
    SimCluster sim({{"worker", job.tasks}}, {.links = job.links,
                                             .longest_kernel = std::chrono::nanoseconds(0),
                                             .time_limit = std::chrono::hours(24)});
    sim.network().set_payload_scale(job.bytes / job.parts / job.partitions / sizeof(Block));
    std::chrono::nanoseconds began{0}, ended{0};
    sim.start([&](SimTask& task) {
         const bool is_first = task.server().name().index == 0;
         task.sleep(5s - sim.world().elapsed());  // all are up by then
         if (is_first) began = sim.world().elapsed();
         run_job(task.server(), {{"shuffle", shuffle}}, "shuffle", options_of(job), [&](Job& running) {
           return std::shared_ptr<void>(&running, [&, is_first](void*) {
             if (is_first) ended = sim.world().elapsed();
           });
         });
       })
        .finish();
    times.job_s = seconds(ended - began);
    times.coordinator_busy = seconds(sim.network().handling(0)) / times.job_s;
    times.other_busy = seconds(sim.network().handling(job.tasks - 1)) / times.job_s;
    times.messages = static_cast<double>(sim.network().messages());
  });
  times.peak_mib = peak_memory_mib();
  return times;
}

}  // namespace actorflow::bench
