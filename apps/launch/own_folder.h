// The folder of this user's running jobs on this machine.
#pragma once

#include <string>

namespace actorflow {

// A folder that only this user can enter; made if it is not there. It is the same for all of the user's
// sessions, unlike XDG_RUNTIME_DIR, which does not exist under cron and belongs to another user after
// su. In a parent as /tmp is, where everybody may make folders but remove only their own, no other user
// can keep it from being made. Throws Error.
std::string own_folder(const std::string& parent = "/tmp");

}  // namespace actorflow
