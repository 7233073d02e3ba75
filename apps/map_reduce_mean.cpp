// The mean of 100 numbers as map and reduce: two slices, the mean of each on a task of its own, combined
// by the sizes of the slices.
//
//   map_reduce_mean                                        two tasks of this process
//   map_reduce_mean --target actorflow://localhost:2222    a cluster whose job "local" has two tasks
#include <iostream>
#include <memory>
#include <numeric>

#include "actors/actorflow.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"

using namespace actorflow;

namespace {

constexpr std::int64_t count = 100;

// The mean of `numbers` from the means of the first `head` of them and of the rest.
Output mean_of_slices(Output numbers, std::int64_t head) {
  Graph& graph = *numbers.graph;
  const std::int64_t tail = count - head;
  Output first = graph.on("/job:local/task:0", [&] { return mean(slice(numbers, {0}, {head})); });
  Output second = graph.on("/job:local/task:1", [&] { return mean(slice(numbers, {head}, {tail})); });
  return (first * static_cast<double>(head) + second * static_cast<double>(tail)) /
         static_cast<double>(count);
}

int run(std::string target, const std::string& credentials) {
  std::unique_ptr<LocalCluster> cluster;
  if (target.empty()) {
    cluster = std::make_unique<LocalCluster>(std::vector<LocalCluster::Job>{{"local", 2}});
    target = cluster->server("local", 0).target();
  }
  Graph graph;
  Output numbers = graph.placeholder(DType::float64, {count}, "numbers");
  Output even = mean_of_slices(numbers, 50);
  Output uneven = mean_of_slices(numbers, 30);

  std::vector<double> values(count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * i % 101);
  Session session(target, graph, {.credentials = credentials});
  const auto results = session.run({even, uneven}, {{numbers, Tensor::of<double>({count}, values)}});

  std::cout << "slices of 50 and 50: " << results[0].scalar<double>() << "\n"
            << "slices of 30 and 70: " << results[1].scalar<double>() << "\n"
            << "without slices:      "
            << std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count) << "\n";
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("The mean of 100 numbers by map and reduce on two tasks", "map_reduce_mean");
  std::string target, credentials;
  program.option("--target", target, "A server of a cluster whose job \"local\" has two tasks");
  add_credentials(program, credentials);
  return run_program(program, argc, argv, [&] { return run(target, credentials); });
}
