// Which program this is.
#pragma once

#include <string>
#include <vector>

namespace actorflow {

// A text that is equal for processes of the same executable file and, where the engine is a shared
// library, of the same library. Thread-safe. Throws disk_error if the files cannot be read.
const std::string& program_build();

// The shared library that has the code at this address; empty: it is the program's own.
std::string library_of(const void* code);
// A text that is equal for files with the same bytes.
std::string build_of(const std::vector<std::string>& files);

}  // namespace actorflow
