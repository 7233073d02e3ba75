// How programs are told by what they prove who they are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace actorflow {

// --credentials, or else the environment variable ACTORFLOW_CREDENTIALS.
void add_credentials(CLI::App& app, std::string& folder);
// --credentials and --insecure, of programs that listen.
void add_security(CLI::App& app, std::string& folder, bool& insecure);

}  // namespace actorflow
