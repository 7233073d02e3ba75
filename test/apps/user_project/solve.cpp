#include <iostream>

#include "actors/actorflow.h"

using namespace actorflow;

int main() {
  Graph g;
  Output x = g.constant(2);
  Output y = (x + 300) + (x - 66);
  Session session(g);
  std::cout << session.run(y).scalar<int>() << "\n";
}
