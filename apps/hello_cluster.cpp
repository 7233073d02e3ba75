// A cluster of one task says hello.
#include <iostream>

#include "actors/actorflow.h"
#include "apps/cli/program.h"

using namespace actorflow;

int main(int argc, char** argv) {
  CommandLine program("A cluster of one task says hello", "hello_cluster");
  return run_program(program, argc, argv, [] {
    Server server = Server::local();
    Graph graph;
    Output hello = graph.constant("Hello, distributed dataflow!");
    Session session(server.target(), graph);
    std::cout << session.run(hello).scalar<std::string>() << "\n";
    return int{success};
  });
}
