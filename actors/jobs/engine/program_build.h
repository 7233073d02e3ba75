// Which program this is.
#pragma once

#include <string>
#include <vector>

namespace actorflow {

// The same for processes of the same executable file and, where the engine is a shared library, of the
// same one; thread-safe. Throws disk_error if they cannot be read.
const std::string& program_build();

// The shared library that has the code at this address; empty: it is the program's own.
std::string library_of(const void* code);
// The same for files with the same bytes.
std::string build_of(const std::vector<std::string>& files);

}  // namespace actorflow
