// Renames a finished file to its name, over the one that was there.
#pragma once

#include <string>

namespace actorflow {

// As rename(2), but what is no file stays: a device, a pipe, a socket, and a link to one of them or into
// /proc, such as /dev/stdout. Returns 0 or -errno; for those -ENOTSUP.
int replace_file(const std::string& from, const std::string& to);

}  // namespace actorflow
