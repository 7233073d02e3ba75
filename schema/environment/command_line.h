// The words with which a process was started.
#pragma once

#include <string>
#include <vector>

namespace actorflow {

// The arguments in the order in which CLI11 parses them, the last one first. "--name=" becomes a name
// and an empty value, since CLI11 would take the next flag for its value.
std::vector<std::string> backward_arguments(std::vector<std::string> arguments);

}  // namespace actorflow
