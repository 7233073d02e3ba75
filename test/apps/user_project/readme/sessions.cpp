// What actors/client/README.md takes for granted: a program's graph, and what it feeds.
#include <iostream>

#include "actors/actorflow.h"

using namespace actorflow;

void sessions(Graph& graph, Output y, Output loss, Output train, Output images, Output labels) {
  struct {
    Tensor images, labels;
  } batch;
  // @snippet@
}
