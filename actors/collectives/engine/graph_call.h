// Collective nodes of graphs as calls of their rank.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/collectives/engine/rank_group.h"
#include "actors/core/messages.h"
#include "dataflow/ops/collective_ops.h"

namespace actorflow {

// The names of groups of graphs: this, and then the ranks.
inline constexpr std::string_view graph_groups = "graph: ";

struct GraphCall {
  std::string group;
  std::vector<std::string> members;
  GroupLife life = GroupLife::any;
  GroupCall call;
  // Of a join, in place of the call's reply.
  std::function<void(Status, int last)> join{};

  void fail(const Status& why) const { join ? join(why, 0) : call.reply({why}); }
};
// Takes the inputs of the call. Throws for a node of another kind.
GraphCall graph_call(StateCall& message, const TaskContext& task);

}  // namespace actorflow
