// Files that nobody but their owner may read: keys, and what may hold some.
#pragma once

#include <string>

namespace actorflow {

// Writes the file whole and to the disk, with mode 0600, or leaves what is there as it is. Returns the
// path that could not be written, with the reason in errno; "" if all went well.
std::string write_private_file(const std::string& path, const std::string& text);

}  // namespace actorflow
