// Credentials of tasks and clients: certificates that the cluster's own authority has issued (`actorflow
// keygen`). tls/README.md says what a connection demands of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataflow/cluster/device_name.h"

namespace actorflow {

// The holder of a certificate: a task, or nothing for a client of masters.
using Holder = std::optional<TaskName>;

// The holder's name in certificates and messages: "actorflow:/job:worker/task:1", or "actorflow:client".
std::string holder_name(const Holder& holder);

// A certificate, its key and the trusted authorities, as PEM.
struct Credentials {
  std::string authority;  // certificates of the trusted authorities; several while one replaces another
  std::string certificate;
  std::string key;
};

// The names of the credential files in a folder.
struct CredentialFiles {
  // ca.crt with worker-1.crt and worker-1.key, or client.crt and client.key.
  CredentialFiles(const std::string& folder, const Holder& holder);

  std::string authority, certificate, key;
};

// Throws not_found that names the file and the command that makes it, and permission_denied for a key
// that other users of the machine can read.
Credentials read_credentials(const std::string& folder, const Holder& holder);

}  // namespace actorflow
