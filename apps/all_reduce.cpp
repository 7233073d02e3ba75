// Sums tensors over ranks again and again: each rank adds what all have, checks the sums and says how
// fast it was.
//
//   all_reduce                                                            3 ranks in this process
//   all_reduce --hosts localhost:2222,localhost:2223 --rank 0             a process for each rank
//   all_reduce --hosts localhost:2222,localhost:2223 --rank 1
//   mpirun -np 3 all_reduce                                               the same by a launcher
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <thread>

#include "actors/actorflow.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"
#include "schema/environment/task_from_environment.h"

using namespace actorflow;

namespace {

struct Options {
  std::string hosts;
  int rank = 0;
  int ranks = 3;
  std::int64_t bytes = 1 << 20;
  int tensors = 1;
  int rounds = 20;
  Algorithm algorithm = Algorithm::automatic;
  ReduceCompression compression = ReduceCompression::none;
  std::int64_t spin_us = CommunicatorOptions().spin.count();
  std::string credentials;
  bool insecure = false;
};

// Rounds before those that are timed, as nccl-tests has them: in these the ranks agree and get in touch,
// and memory is used for the first time.
constexpr int warm_up_rounds = 5;

// rank + 1 in every element, so that the sum is known.
Tensor contribution(const Communicator& world, std::int64_t elements) {
  Tensor all = world.allocate(DType::float32, {elements});
  std::ranges::fill(all.mutable_values<float>(), static_cast<float>(world.rank() + 1));
  return all;
}

void check_sums(const std::vector<Tensor>& sums, int ranks) {
  const float expected = static_cast<float>(ranks * (ranks + 1)) / 2;
  for (const auto& sum : sums)
    for (const float value : sum.values<float>())
      if (value != expected)
        throw Error(Code::data_loss, fmt::format("the sum is {} instead of {}", value, expected));
}

void run_rank(Server& server, const Options& options) {
  using Seconds = std::chrono::duration<double>;
  const Communicator world(
      server, {.algorithm = options.algorithm, .spin = std::chrono::microseconds(options.spin_us)});
  const std::vector<Tensor> own(static_cast<std::size_t>(options.tensors),
                                contribution(world, options.bytes / 4));
  const ReduceOptions how{.name = "x", .compression = options.compression};
  const auto add = [&]() -> std::vector<Tensor> {
    if (own.size() == 1) return {world.all_reduce(own[0], how)};
    return world.grouped_all_reduce(own, how);
  };
  std::vector<Tensor> sums;
  for (int round = 0; round < warm_up_rounds; ++round) sums = add();
  check_sums(sums, world.size());
  world.barrier();
  fmt::print("rank {} of {} adds\n", world.rank(), world.size());
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < options.rounds; ++round) sums = add();
  const Seconds time = (std::chrono::steady_clock::now() - begin) / std::max(options.rounds, 1);
  check_sums(sums, world.size());
  const std::int64_t bytes = options.bytes * options.tensors;
  fmt::print("rank {} of {}: {} bytes in {:.4f} ms, bus bandwidth {:.2f} GB/s\n", world.rank(),
             world.size(), bytes, time.count() * 1e3,
             2.0 * static_cast<double>(bytes) * (world.size() - 1) / world.size() / time.count() / 1e9);
}

void run_in_this_process(const Options& options) {
  LocalCluster cluster({{"rank", options.ranks}});
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(options.ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < options.ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        run_rank(cluster.server("rank", rank), options);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  threads.clear();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// The task of the flags, else of the environment, if there is one.
std::optional<TaskConfig> task_of(const Options& options) {
  std::optional<TaskConfig> task;
  check_usage([&] {
    if (options.hosts.empty())
      task = task_from_environment();
    else
      task = TaskConfig::make(ClusterSpec{{"rank", ClusterSpec::parse_hosts("--hosts", options.hosts)}},
                              {"rank", options.rank});
  });
  return task;
}

void run_task(const TaskConfig& task, const Options& options) {
  ServerOptions of_server;
  of_server.cluster = task.cluster;
  of_server.job = task.task.job;
  of_server.task = task.task.index;
  of_server.credentials = options.credentials;
  of_server.insecure = options.insecure;
  Server server(std::move(of_server));
  run_rank(server, options);
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Sums a tensor over ranks", "all_reduce");
  Options options;
  program.option("--hosts", options.hosts, "Addresses of the ranks; none: all in this process");
  program.option("--rank", options.rank, "The number of this rank").check(in_range(0, 9999));
  program.option("--ranks", options.ranks, "How many ranks this process has").check(in_range(1, 99));
  program.option("--bytes", options.bytes, "The size of the tensor").check(in_range(4, 1 << 30));
  program.option("--tensors", options.tensors, "How many of them are summed together")
      .check(in_range(1, 100'000));
  program.option("--rounds", options.rounds, "How often they are summed");
  std::map<std::string, Algorithm> algorithms;
  for (const auto each : {Algorithm::automatic, Algorithm::direct, Algorithm::doubling,
                          Algorithm::rabenseifner, Algorithm::ring, Algorithm::hierarchical})
    algorithms.emplace(to_string(each), each);
  program.choice("--algorithm", options.algorithm, algorithms, "How the bytes travel; rank 0's counts");
  program.choice("--compression", options.compression,
                 {{"none", ReduceCompression::none}, {"bfloat16", ReduceCompression::bfloat16}},
                 "none, or bfloat16: half the bytes, rounded");
  program
      .option("--spin_us", options.spin_us,
              "How long a rank looks for small tensors of others before it sleeps")
      .check(in_range(0, 10'000))
      .show_default();
  add_security(program, options.credentials, options.insecure);
  return run_program(program, argc, argv, [&] {
    const auto task = task_of(options);
    task ? run_task(*task, options) : run_in_this_process(options);
    return int{success};
  });
}
