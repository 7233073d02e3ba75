#include "apps/cli/security_flags.h"

namespace actorflow {

void add_credentials(CLI::App& app, std::string& folder) {
  app.add_option("--credentials", folder,
                 "Folder of 'actorflow keygen': all connections are of mutual TLS then")
      ->envname("ACTORFLOW_CREDENTIALS");
}

void add_security(CLI::App& app, std::string& folder, bool& insecure) {
  add_credentials(app, folder);
  app.add_flag(
      "--insecure", insecure,
      "Without credentials: listen even where other machines reach it. Whoever does can read and "
      "change everything");
}

}  // namespace actorflow
