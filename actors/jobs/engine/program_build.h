// Which program this is.
#pragma once

#include <string>

namespace actorflow {

// The same for processes of the same executable file; thread-safe. Throws disk_error if it cannot be
// read.
const std::string& program_build();

}  // namespace actorflow
