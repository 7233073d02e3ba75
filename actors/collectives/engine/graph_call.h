// Collective nodes of graphs as calls of their rank.
#pragma once

#include <string>
#include <vector>

#include "actors/collectives/engine/rank_group.h"
#include "actors/core/messages.h"

namespace actorflow {

struct GraphCall {
  std::string group;  // of the graphs with these ranks
  std::vector<std::string> members;
  GroupCall call;
};
// Takes the inputs of the call. Throws for a node of another kind.
GraphCall graph_call(StateCall& message, const std::string& own_task);

}  // namespace actorflow
