// Containers: what the names of variables and queues look like on their task.
//
// A variable of the container "experiment" is kept as "experiment|weights", one of the default container
// as "weights". An isolated session has containers of its own: it keeps these as
// "session-1f:experiment|weights" and "session-1f:|weights". Nodes carry the first form from the start;
// the master writes the second into the nodes that it runs for such a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Throws invalid_argument unless the name is empty, the default container, or has a letter, digit or '.'
// first and then letters, digits and "_.-/".
void check_container(std::string_view name);

// The name under which a variable of the container is kept.
std::string in_container(std::string_view container, std::string_view variable);
// The container of a name, "" for the default one; with that of an isolated session in front.
std::string_view container_of(std::string_view variable);
// True if the name is in one of the containers, or the isolated session of that handle keeps it.
bool is_in(std::string_view variable, const std::vector<std::string>& containers,
           std::string_view session);

// The name of the variable or queue that the node works on: its first attribute that names state. Null
// if it works on none, or on a list of them.
const std::string* named_state(const Node& node);

// Lets every node that works on state of its task work on that of the isolated session instead.
void isolate(GraphDef& graph, std::string_view session);

}  // namespace actorflow
