// Sums a tensor over ranks again and again: each rank adds what all have, checks the sum and says how
// fast it was.
//
//   all_reduce                                                            3 ranks in this process
//   all_reduce --hosts localhost:2222,localhost:2223 --rank 0             a process for each rank
//   all_reduce --hosts localhost:2222,localhost:2223 --rank 1
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <thread>

#include "actors/actorflow.h"
#include "apps/cli/program.h"

using namespace actorflow;

namespace {

struct Options {
  std::string hosts;
  int rank = 0;
  int ranks = 3;
  std::int64_t bytes = 1 << 20;
  int rounds = 20;
};

// rank + 1 in every element, so that the sum is known.
Tensor contribution(int rank, std::int64_t elements) {
  return Tensor::of(
      {elements}, std::vector<float>(static_cast<std::size_t>(elements), static_cast<float>(rank + 1)));
}

void check_sum(const Tensor& sum, int ranks) {
  const float expected = static_cast<float>(ranks * (ranks + 1)) / 2;
  for (const float value : sum.values<float>())
    if (value != expected)
      throw Error(Code::data_loss, fmt::format("the sum is {} instead of {}", value, expected));
}

void run_rank(Server& server, const Options& options) {
  using Seconds = std::chrono::duration<double>;
  const Communicator world(server);
  const Tensor own = contribution(world.rank(), options.bytes / 4);
  check_sum(world.all_reduce(own, {.name = "x"}), world.size());
  world.barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < options.rounds; ++round) {
    const Tensor sum = world.all_reduce(own, {.name = "x"});
    if (round == 0) fmt::print("rank {} of {} adds\n", world.rank(), world.size());
    if (round == 0) std::fflush(stdout);
    check_sum(sum, world.size());
  }
  const Seconds time = (std::chrono::steady_clock::now() - begin) / std::max(options.rounds, 1);
  const double bytes = static_cast<double>(options.bytes) * 2 * (world.size() - 1) / world.size();
  fmt::print("rank {} of {}: {} bytes in {:.3f} ms, bus bandwidth {:.2f} GB/s\n", world.rank(),
             world.size(), options.bytes, time.count() * 1e3, bytes / time.count() / 1e9);
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

void run_task(const Options& options) {
  ServerOptions of_server;
  check_usage([&] {
    of_server.cluster = ClusterSpec{{"rank", ClusterSpec::parse_hosts("--hosts", options.hosts)}};
  });
  of_server.job = "rank";
  of_server.task = options.rank;
  Server server(std::move(of_server));
  run_rank(server, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sums a tensor over ranks", "all_reduce");
  Options options;
  app.add_option("--hosts", options.hosts, "Addresses of the ranks; none: all in this process");
  app.add_option("--rank", options.rank, "The number of this rank")->check(CLI::Range(0, 9999));
  app.add_option("--ranks", options.ranks, "How many ranks this process has")->check(CLI::Range(1, 99));
  app.add_option("--bytes", options.bytes, "The size of the tensor")->check(CLI::Range(4, 1 << 30));
  app.add_option("--rounds", options.rounds, "How often it is summed");
  return run_program(app, argc, argv, [&] {
    options.hosts.empty() ? run_in_this_process(options) : run_task(options);
    return int{success};
  });
}
