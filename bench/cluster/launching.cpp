// A whole job of one command: from its start over a first step of all tasks to its clean end.
#include <fmt/format.h>

#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "bench/program.h"

namespace actorflow::bench {
namespace {

Measurement against_torchrun(bool quick) {
  const int tasks = quick ? 2 : 8;
  const std::string actorflow = path_of_program("actorflow");
  const std::string ours =
      fmt::format("'{}' launch -np {} '{}' train digits --strategy multi_worker --train_steps 1 2>&1",
                  actorflow, tasks, actorflow);
  return in_turn(
      quick ? 1 : 5, [&] { return seconds_of([&] { output_of(ours); }); },
      [&] { return torchrun_seconds(tasks); });
}

}  // namespace

std::vector<Benchmark> launch_benchmarks() {
  return {{"launch/8_tasks_make_a_step", "s", "torchrun with gloo", at_most(0.5), against_torchrun}};
}

}  // namespace actorflow::bench
