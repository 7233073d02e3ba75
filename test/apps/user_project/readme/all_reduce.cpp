// What actors/collectives/README.md takes for granted: a program's server and gradient.
#include "actors/actorflow.h"

using namespace actorflow;

Tensor all_reduce_of(Server& server, const Tensor& gradient) {
  // @snippet@
  return mean;
}
