// How jobs of 1 to 1,000 workers scale, on paper: production actors on a modelled network and
// processors, in virtual time. Prints a table in Markdown; draws it as SVG.
//
//   actorflow_scale --svg bench/scale.svg > bench/SCALE.md
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "apps/cli/program.h"
#include "bench/harness.h"
#include "bench/scale/all_reduce_tables.h"
#include "bench/scale/parameter_servers.h"
#include "bench/scale/plot.h"
#include "bench/scale/ring.h"
#include "bench/scale/shuffle.h"
#include "dataflow/values/error.h"

namespace {

using namespace actorflow;
using namespace actorflow::bench;

struct Options {
  std::vector<int> workers{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
  int ps = 16;
  int steps = 10;
  double latency_us = 100, gigabits = 10, delivery_us = 1.7, message_us = 0.3, gigabytes_handled = 5;
  double compute_ms = 100, spread = 0.1;
  std::int64_t variable_kib = 64, ring_mib = 16;
  bool shuffle = false;
  std::vector<int> shuffle_tasks{10, 100, 1000};
  double shuffle_gb = 1000;
  int shuffle_parts = 1000;
  std::vector<int> ranks{2, 3, 4, 8, 16, 32, 64, 128, 256, 1000};
  std::vector<int> ranks_per_host{1, 8};
  double gigabytes_added = 10;
  bool only_all_reduce = false;
  double shuffle_compute = 50;
  std::string svg;

  LinkModel links() const {
    LinkModel model;
    model.latency = std::chrono::nanoseconds(static_cast<std::int64_t>(latency_us * 1000));
    model.bytes_per_second = gigabits * 1e9 / 8;
    model.message_cost = std::chrono::nanoseconds(static_cast<std::int64_t>(message_us * 1000));
    model.delivery_cost = std::chrono::nanoseconds(static_cast<std::int64_t>(delivery_us * 1000));
    model.byte_cost_ns = 1 / gigabytes_handled;
    return model;
  }
  PsJob null_job(const Strategy& strategy) const {
    return {.ps = ps, .strategy = strategy, .steps = steps, .links = links()};
  }
  PsJob training_job(const Strategy& strategy) const {
    PsJob job = null_job(strategy);
    job.bytes_per_ps = variable_kib << 10;
    job.compute = std::chrono::nanoseconds(static_cast<std::int64_t>(compute_ms * 1e6));
    job.spread = spread;
    return job;
  }
};

using Curve = std::vector<std::pair<double, double>>;

// Prints a table of one kind of job over numbers of workers; returns its curve.
Curve tabulate(const Options& options, const std::string& title, PsJob job) {
  fmt::print(
      "\n## {}\n\n| workers | step, ms | global steps/s | coordinator busy | another server "
      "busy | messages a step and worker | deliveries | simulated in, s | peak MiB |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      title);
  Curve curve;
  for (const int workers : options.workers) {
    job.workers = workers;
    const PsJobTimes times = simulate(job);
    fmt::print("| {} | {:.2f} | {:.1f} | {:.0f} % | {:.0f} % | {:.1f} | {:.1f} | {:.1f} | {:.0f} |\n",
               workers, 1e3 * times.step_s, times.steps_per_s, 100 * times.coordinator_busy,
               100 * times.other_ps_busy, times.messages, times.deliveries, times.simulated_in_s,
               times.peak_mib);
    std::fflush(stdout);
    curve.emplace_back(workers, 1e3 * times.step_s);
  }
  return curve;
}

// Prints the time of a ring all-reduce beside its lower bounds: each port carries 2 (n - 1) / n of the
// tensor, and 2 (n - 1) messages follow each other.
Curve tabulate_ring(const Options& options) {
  const std::int64_t bytes = options.ring_mib << 20;
  const LinkModel links = options.links();
  fmt::print(
      "\n## Ring all-reduce of {} MiB\n\n| workers | ms | bandwidth alone, ms | latency alone, ms | "
      "bus bandwidth, GB/s | simulated in, s |\n|---|---|---|---|---|---|\n",
      options.ring_mib);
  Curve curve;
  for (const int workers : options.workers) {
    if (workers == 1) continue;
    double time_s = 0;
    const double real_s = seconds_of([&] { time_s = simulate_ring(workers, bytes, links); });
    const double carried = 2.0 * (workers - 1) / workers * static_cast<double>(bytes);
    const double latency_s = 2.0 * (workers - 1) * static_cast<double>(links.latency.count()) / 1e9;
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.1f} |\n", workers, 1e3 * time_s,
               1e3 * carried / links.bytes_per_second, 1e3 * latency_s, carried / time_s / 1e9, real_s);
    std::fflush(stdout);
    curve.emplace_back(workers, 1e3 * time_s);
  }
  return curve;
}

// Prints the time of a shuffle beside what the ports alone need: each carries the blocks that its task
// makes for others.
void tabulate_shuffle(const Options& options) {
  fmt::print(
      "\n## Shuffle of {} GB in {} parts and as many partitions\n\n| tasks | s | computing alone, s | "
      "bandwidth alone, s | MB/s a task | first task busy | last task busy | "
      "first task's parts of an even share | most parts of a task | most partitions of a task | "
      "messages | simulated in, s | peak MiB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      options.shuffle_gb, options.shuffle_parts);
  for (const int tasks : options.shuffle_tasks) {
    const ShuffleJob job{.tasks = tasks,
                         .parts = options.shuffle_parts,
                         .partitions = options.shuffle_parts,
                         .bytes = 1e9 * options.shuffle_gb,
                         .computed_per_second = 1e9 * options.shuffle_compute,
                         .links = options.links()};
    const ShuffleTimes times = simulate(job);
    const double alone_s = job.bytes / tasks * (tasks - 1) / tasks / job.links.bytes_per_second;
    fmt::print(
        "| {} | {:.1f} | {:.1f} | {:.1f} | {:.0f} | {:.0f} % | {:.0f} % | {:.2f} | {:.2f} | {:.2f} "
        "| {:.0f} | {:.1f} | {:.0f} |\n",
        tasks, times.job_s, job.computing_s(), alone_s, job.bytes / tasks / times.job_s / 1e6,
        100 * times.coordinator_busy, 100 * times.other_busy, times.first_made, times.most_made,
        times.most_read, times.messages, times.simulated_in_s, times.peak_mib);
    std::fflush(stdout);
  }
}

int run(const Options& options) {
  if (options.shuffle) {
    tabulate_shuffle(options);
    return 0;
  }
  if (options.only_all_reduce) {
    const auto at = [&options](double gigabits) {
      Options of_network = options;
      of_network.gigabits = gigabits;
      return HostNetwork{of_network.links(), 1e9 * options.gigabytes_added};
    };
    for (const int ranks_per_host : options.ranks_per_host)
      for (const double gigabits : {10., 100.})
        tabulate_all_reduces(options.ranks, ranks_per_host, at(gigabits));
    for (const double gigabits : {10., 100.}) {
      tabulate_unequal_hosts(at(gigabits));
      tabulate_short_numbers(at(gigabits));
    }
    return 0;
  }
  fmt::print(
      "# Scale on paper\n\nOne way {} us and up to half as much again, {} Gbit/s a port; a message "
      "costs the processor at each end {} us, a delivery {} us, and its bytes {} GB/s. {} parameter "
      "servers, {} steps after 2.\n",
      options.latency_us, options.gigabits, options.message_us, options.delivery_us,
      options.gigabytes_handled, options.ps, options.steps);
  const std::string training =
      fmt::format("{} KiB on each parameter server, {} ms (+-{:.0f} %) of computing",
                  options.variable_kib, options.compute_ms, 100 * options.spread);
  Plot plot{"Step time over workers (simulated)",
            "workers",
            "ms",
            {{"null step, synchronous",
              tabulate(options, "Null step, synchronous: a scalar on each parameter server",
                       options.null_job(Synchronous{}))},
             {"null step, asynchronous",
              tabulate(options, "Null step, asynchronous", options.null_job(Asynchronous{}))},
             {"training, synchronous", tabulate(options, "Training, synchronous: " + training,
                                                options.training_job(Synchronous{}))},
             {"training, asynchronous", tabulate(options, "Training, asynchronous: " + training,
                                                 options.training_job(Asynchronous{}))},
             {fmt::format("ring all-reduce of {} MiB", options.ring_mib), tabulate_ring(options)},
             {"TensorFlow, null step (published)", {{1, 1.8}, {100, 8.8}}, false}}};
  if (!options.svg.empty()) std::ofstream(options.svg) << to_svg(plot);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Step times of jobs of many workers, simulated", "actorflow_scale");
  Options options;
  bool quick = false;
  program.option("--workers", options.workers, "Numbers of workers, with commas").comma_separated();
  program.option("--ps", options.ps, "Parameter servers").show_default();
  program.option("--steps", options.steps, "Steps that are measured").show_default();
  program.option("--latency-us", options.latency_us, "Of the network, one way").show_default();
  program.option("--gigabits", options.gigabits, "Of a machine's port, a second").show_default();
  program.option("--message-us", options.message_us, "What a message costs a processor at each end")
      .show_default();
  program
      .option("--delivery-us", options.delivery_us,
              "The same of what carries the small messages that a task sends to another at one moment")
      .show_default();
  program
      .option("--gigabytes-handled", options.gigabytes_handled,
              "What a processor encodes, decodes or adds in a second")
      .show_default();
  program.option("--compute-ms", options.compute_ms, "Of a worker's step of training").show_default();
  program.flag("--shuffle", options.shuffle, "The shuffle of a map/reduce job instead");
  program.option("--tasks", options.shuffle_tasks, "Of the shuffle, with commas").comma_separated();
  program.option("--gigabytes", options.shuffle_gb, "Of the shuffle").show_default();
  program
      .option("--gigabytes-computed", options.shuffle_compute,
              "Of the shuffle: what each of a task's two cores makes or reads in a second")
      .show_default();
  program.option("--parts", options.shuffle_parts, "Of the shuffle, and its partitions").show_default();
  program.flag("--all-reduce", options.only_all_reduce,
               "Every algorithm of an all-reduce instead, 4 KiB to 1 GiB at 10 and 100 Gbit/s");
  program.option("--ranks", options.ranks, "Of the all-reduces, with commas").comma_separated();
  program.option("--ranks-per-host", options.ranks_per_host, "Of the all-reduces, with commas")
      .comma_separated();
  program
      .option("--gigabytes-added", options.gigabytes_added,
              "What a processor adds in a second to a sum of an all-reduce")
      .show_default();
  program.option("--svg", options.svg, "A file for the picture");
  program.flag("--quick", quick, "A few workers, to show that it runs");
  return run_program(program, argc, argv, [&] {
    if (quick) {
      options.workers = {1, 4};
      options.steps = 2;
      options.shuffle_tasks = {2, 4};
      options.shuffle_parts = 20;
      options.shuffle_gb = 1;
    }
    return run(options);
  });
}
