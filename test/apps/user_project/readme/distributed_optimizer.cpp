// What actors/strategies/README.md takes for granted: a program's server and model.
#include "actors/strategies/distributed_optimizer.h"
#include "actors/actorflow.h"

using namespace actorflow;

Output model(Graph& g);

void train_on_all_tasks(Server& server) {
  Graph g;
  DistributedTrainOp train;
  // @snippet@
}
