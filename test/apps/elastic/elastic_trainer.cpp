// A rank of a training loop that goes on from its newest commit when others are lost and come back
// (run_elastic). Every rank checks that it has learned the bits of a serial loop, and says so.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "actors/eager/committed_state.h"
#include "actors/task/server.h"
#include "kernels/eager/eager_variable.h"
#include "test/apps/support/flags_program.h"
#include "test/support/contributions.h"

namespace actorflow {
namespace {

struct Flags {
  std::string hosts, members_file, end_file;
  int rank = 0, pause_ms = 10;
  std::int64_t steps = 100, elements = 1000, more_elements = 0;

  void add_to(Command& command) {
    command.option("--hosts", hosts, "Addresses of the ranks").required();
    command.option("--rank", rank, "The number of this one");
    command.option("--members", members_file,
                   "A file with the numbers of the ranks that take part, read when a group opens");
    command.option("--steps", steps, "Of the training");
    command.option("--end_file", end_file, "The last step waits until this file is there");
    command.option("--pause_ms", pause_ms, "What a step takes besides");
    command.option("--elements", elements, "Of the weights");
    command.option("--more_elements", more_elements, "Of the weights of this rank alone");
  }
};

void say(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  Tensor sum = Tensor::allocate(DType::float32, a.shape());
  for (std::size_t i = 0; i < sum.values<float>().size(); ++i)
    sum.mutable_values<float>()[i] = a.values<float>()[i] + b.values<float>()[i];
  return sum;
}

Tensor learned_serially(int ranks, std::int64_t steps, const Shape& shape) {
  Tensor weights = Tensor::zeros(DType::float32, shape);
  for (std::int64_t step = 0; step < steps; ++step)
    weights = sum_of(weights, test::serial<float>(ranks, shape, static_cast<int>(step)));
  return weights;
}

CommunicatorOptions world_of(const Flags& flags) {
  CommunicatorOptions options;
  if (flags.members_file.empty()) return options;
  std::ifstream file(flags.members_file);
  for (int rank = 0; file >> rank;) options.members.push_back(fmt::format("/job:rank/task:{}", rank));
  return options;
}

// Until a rank has seen the file; all of them agree upon it, and note who is lost meanwhile.
void wait_for_end(const Communicator& world, const Flags& flags) {
  const auto seen = [&] {
    return Tensor::scalar(std::filesystem::exists(flags.end_file) ? 1.0F : 0.0F);
  };
  while (!flags.end_file.empty() && world.all_reduce(seen(), {.name = "end"}).scalar<float>() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

int run(const Flags& flags) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"rank", ClusterSpec::parse_hosts("--hosts", flags.hosts)}};
  options.job = "rank";
  options.task = flags.rank;
  options.num_threads = 1;
  options.heartbeat_timeout_ms = 1000;
  Server server(options);

  const Shape shape{flags.elements + flags.more_elements};
  const Tensor expected =
      learned_serially(static_cast<int>(std::ssize(server.cluster().all_tasks())), flags.steps, shape);
  const EagerVariable weights("weights", Tensor::zeros(DType::float32, shape));
  std::int64_t step = 0;
  CommittedState state({{weights}}, {step});
  const auto train = [&](const Communicator& world) {
    say(fmt::format("{} ranks go on from step {}", world.size(), step));
    for (; step < flags.steps; state.commit()) {
      if (step + 1 == flags.steps) wait_for_end(world, flags);
      const Tensor own = test::contribution<float>(world.rank(), shape, static_cast<int>(step));
      weights.assign(sum_of(weights.read(), world.all_reduce(own, {.name = "gradient"})));
      say(fmt::format("made step {}", ++step));
      std::this_thread::sleep_for(std::chrono::milliseconds(flags.pause_ms));
    }
    world.barrier();  // others may have lost the last step
  };
  run_elastic(
      state, [&] { return Communicator(server, world_of(flags)); }, train);
  if (flags.members_file.empty() && !identical(weights.read(), expected))
    throw Error(Code::data_loss, "other bits were learned");
  say(fmt::format("learned {} steps", step));
  return success;
}

}  // namespace
}  // namespace actorflow

int main(int argc, char** argv) {
  return actorflow::test::run_with_flags("Trains as a rank that others may do without",
                                         "elastic_trainer", argc, argv, actorflow::run);
}
