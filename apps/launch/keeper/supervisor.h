// One task of a cluster, on a machine where no launcher keeps it.
#pragma once

#include <string>
#include <vector>

#include "apps/launch/growing_pause.h"

namespace actorflow {

// Runs the program, and again after the pause when it ends with an error or is killed. Returns its
// status when it has succeeded, was called with wrong arguments or was interrupted, all of which another
// try would not change; or after INT or TERM to this process, which ends it: TERM to its
// process group, and KILL at the second signal, or 5 s after the program itself has ended. It does not
// outlive this process, which must have no other children. Throws not_found or permission_denied if
// there is no such program.
int supervise(const std::vector<std::string>& command, GrowingPause pause);

}  // namespace actorflow
