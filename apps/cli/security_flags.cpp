#include "apps/cli/security_flags.h"

namespace actorflow {

void add_credentials(Command& command, std::string& folder) {
  command
      .option("--credentials", folder,
              "Folder of 'actorflow keygen': all connections are of mutual TLS then")
      .from_environment("ACTORFLOW_CREDENTIALS");
}

void add_security(Command& command, std::string& folder, bool& insecure) {
  add_credentials(command, folder);
  command.flag(
      "--insecure", insecure,
      "Without credentials: listen even where other machines reach it. Whoever does can read and "
      "change everything");
}

}  // namespace actorflow
