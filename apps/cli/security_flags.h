// The flags for credentials.
#pragma once

#include <string>

#include "schema/command_line/command_line.h"

namespace actorflow {

// Adds --credentials, whose default is the environment variable ACTORFLOW_CREDENTIALS.
void add_credentials(Command& command, std::string& folder);
// Adds --credentials and --insecure, for programs that listen.
void add_security(Command& command, std::string& folder, bool& insecure);

}  // namespace actorflow
