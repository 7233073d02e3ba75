// A data-parallel step of two processes, each with a thread and all variables, which average their
// gradients by all-reduce, against PyTorch's DistributedDataParallel over gloo. Both sides end with an
// error if their ranks' weights differ in a bit (programs/data_parallel.cpp, pytorch_ddp.py).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "bench/program.h"

namespace actorflow::bench {
namespace {

struct DataParallelModel {
  std::string name, name_in_scripts;
  int steps = 0;  // that take about a second and a half
};

double steps_per_second(const DataParallelModel& model, int steps) {
  const auto addresses = free_addresses(2);
  const auto arguments = [&](int rank) {
    return std::vector<std::string>{"--hosts", fmt::format("{}", fmt::join(addresses, ",")),
                                    "--rank",  std::to_string(rank),
                                    "--model", model.name_in_scripts,
                                    "--steps", std::to_string(steps)};
  };
  const Program other("data_parallel", arguments(1));
  return std::stod(
      output_of(fmt::format("{} {}", path_of_program("data_parallel"), fmt::join(arguments(0), " "))));
}

Benchmark against_ddp(const DataParallelModel& model) {
  return {"data_parallel/" + model.name + "_vs_ddp", "step/s", "PyTorch's DDP over gloo", at_least(2),
          [model](bool quick) {
            return in_turn(
                quick ? 1 : 3, [&] { return steps_per_second(model, quick ? 2 : model.steps); },
                [&] { return ddp_steps_per_second(model.name_in_scripts, quick); });
          }};
}

}  // namespace

std::vector<Benchmark> data_parallel_benchmarks() {
  return {
      against_ddp({"mlp_784_128_10_batch_64", "mlp-128", 2000}),
      against_ddp({"mlp_784_1024_1024_10_batch_128", "mlp-1024", 150}),
      against_ddp({"resnet20_batch_64", "resnet20", 15}),
  };
}

}  // namespace actorflow::bench
