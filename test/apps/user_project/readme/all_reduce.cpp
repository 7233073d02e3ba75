// What the README's section on all-reduce takes for granted: a program's server, gradient and model.
#include "actors/actorflow.h"
#include "actors/strategies/distributed_optimizer.h"

using namespace actorflow;

Output model(Graph& g);

Tensor all_reduce_of(Server& server, const Tensor& gradient) {
  Graph g;
  DistributedTrainOp train;
  // @snippet@
  return mean;
}
