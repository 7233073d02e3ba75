// By what tasks and clients know each other: certificates that the cluster's own authority has issued
// (`actorflow keygen`). README.md of this folder, "Mutual TLS", says what a connection asks of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataflow/cluster/device_name.h"

namespace actorflow {

// Who a certificate speaks for: a task, or nothing for a client of masters.
using Holder = std::optional<TaskName>;

// As certificates and messages have it: "actorflow:/job:worker/task:1", or "actorflow:client".
std::string holder_name(const Holder& holder);

// As PEM.
struct Credentials {
  std::string authority;  // certificates of whom is trusted; several while one replaces another
  std::string certificate;
  std::string key;
};

// The files of a folder.
struct CredentialFiles {
  // ca.crt with worker-1.crt and worker-1.key, or client.crt and client.key.
  CredentialFiles(const std::string& folder, const Holder& holder);

  std::string authority, certificate, key;
};

// Throws not_found that names the file and how it comes to be, and permission_denied for a key that
// anyone on the machine can read.
Credentials read_credentials(const std::string& folder, const Holder& holder);

}  // namespace actorflow
