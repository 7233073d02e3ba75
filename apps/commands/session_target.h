// The targets of sessions as users give them.
#pragma once

#include <string>

namespace actorflow {

// The target of a session for the address of a task: "host:port", or a whole target, which is returned
// as it is.
std::string target_of(const std::string& given);

}  // namespace actorflow
