// Containers: how variables and queues are named on their task.
//
// A variable of the container "experiment" is kept as "experiment|weights", one of the default container
// as "weights". An isolated session has containers of its own, in which these variables are
// "session-1f:experiment|weights" and "session-1f:|weights". A program's nodes carry the shared form;
// the master writes the isolated form into the nodes that it runs for such a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Throws invalid_argument unless the name is empty (the default container), or a letter, digit or '.'
// followed by letters, digits and "_.-/".
void check_container(std::string_view name);

// The name of the container's variable on its task.
std::string in_container(std::string_view container, std::string_view variable);
// The container in a name, "" for the default one, with the prefix of an isolated session if it has one.
std::string_view container_of(std::string_view variable);
// True if the variable is in one of the containers or belongs to the isolated session with that handle.
bool is_in(std::string_view variable, const std::vector<std::string>& containers,
           std::string_view session);

// The name of the variable or queue that the node works on: its first attribute that names state. Null
// if it works on none, or on a list of them.
const std::string* named_state(const Node& node);

// Lets every node that works on state of its task work on that of the isolated session instead.
void isolate(GraphDef& graph, std::string_view session);

}  // namespace actorflow
