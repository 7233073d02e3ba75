// What a machine lacks for a job.
#pragma once

#include <string>
#include <vector>

namespace actorflow {

// Makes `folder` the working folder of this process. Returns the mistake, or "".
std::string enter_folder(const std::string& folder);
// The mistake of a folder that must be there to read, or to write too; "" for none, or no folder.
std::string folder_mistake(const std::string& what, const std::string& folder, bool to_write);

// Where the program is that a shell would run by this name, from the working folder. Throws not_found,
// or permission_denied.
std::string find_program(const std::string& name);

}  // namespace actorflow
