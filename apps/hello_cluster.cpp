// A cluster of one task says hello.
#include <iostream>

#include "actors/actorflow.h"

using namespace actorflow;

int main() {
  Server server = Server::local();
  Graph graph;
  Output hello = graph.constant("Hello, distributed dataflow!");
  Session session(server.target(), graph);
  std::cout << session.run(hello).scalar<std::string>() << "\n";
}
