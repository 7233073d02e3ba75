// The folder of this user's running jobs on this machine.
#pragma once

#include <string>

namespace actorflow {

// Where nobody but this user can enter; made if it is not there. One place for all of a user's sessions:
// XDG_RUNTIME_DIR is not there under cron, and after su it is another user's. Throws Error.
std::string own_folder();

}  // namespace actorflow
