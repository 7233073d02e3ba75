// The flags for credentials.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace actorflow {

// Adds --credentials, whose default is the environment variable ACTORFLOW_CREDENTIALS.
void add_credentials(CLI::App& app, std::string& folder);
// Adds --credentials and --insecure, for programs that listen.
void add_security(CLI::App& app, std::string& folder, bool& insecure);

}  // namespace actorflow
