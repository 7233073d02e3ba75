// (x + 300) + (x - 66) with x = 2 is 238, in one process or on two tasks: only the device names change.
//
//   equations                                        one process
//   equations --two_tasks                            two tasks of one process
//   equations --target actorflow://localhost:2222    a cluster whose job "local" has two tasks
//   equations --two_tasks --placement dot            where the nodes are placed, for Graphviz
#include <iostream>
#include <memory>

#include "actors/actorflow.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"

using namespace actorflow;

namespace {

int solve(std::string target, const std::string& credentials, bool two_tasks,
          const std::string& placement) {
  std::unique_ptr<LocalCluster> cluster;
  if (two_tasks) {
    cluster = std::make_unique<LocalCluster>(std::vector<LocalCluster::Job>{{"local", 2}});
    target = cluster->server("local", 0).target();
  }
  const bool distributed = !target.empty();

  Graph graph;
  Output x = graph.constant(2);
  Output y2 = graph.on(distributed ? "/job:local/task:1" : "", [&] { return x - 66; });
  Output y = graph.on(distributed ? "/job:local/task:0" : "", [&] { return x + 300 + y2; });

  Session session = distributed ? Session(target, graph, {.credentials = credentials}) : Session(graph);
  if (placement == "table") std::cout << session.placement().table();
  if (placement == "dot") std::cout << session.placement().dot();
  std::cout << session.run(y).scalar<int>() << "\n";
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine program("Solves two equations, in one process or on two tasks", "equations");
  std::string target, credentials, placement;
  bool two_tasks = false;
  program.option("--target", target, "A server of a cluster whose job \"local\" has two tasks");
  add_credentials(program, credentials);
  program.flag(both_spellings("two-tasks"), two_tasks, "Two tasks in this process").excludes("--target");
  program.option("--placement", placement, "Print where the nodes are placed, too: \"table\" or \"dot\"")
      .check(one_of({"table", "dot"}));
  return run_program(program, argc, argv,
                     [&] { return solve(target, credentials, two_tasks, placement); });
}
