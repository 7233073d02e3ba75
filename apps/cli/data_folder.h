#pragma once

#include <string>

namespace actorflow {

// Where the program finds data of that name without being told: beside the build folder it was built in,
// or in the share/ of the prefix it is installed in. "" if it is in neither.
std::string default_data_folder(const std::string& name = "mnist");

// What the option --data says: a folder, or the name of data of the project's own; "" = mnist.
std::string data_folder(const std::string& given);

}  // namespace actorflow
