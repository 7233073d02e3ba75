// Making the credentials of a cluster's tasks and clients, for `actorflow keygen`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/credentials.h"

namespace actorflow {

struct KeygenOptions {
  std::string folder;
  std::vector<TaskName> tasks;  // besides the client
  // The present time in seconds since 1970. Certificates are valid from an hour before, for machines
  // whose clocks differ.
  std::int64_t now = 0;
  int days = 365;
  int authority_days = 3650;
  // Renews certificates that exist already.
  bool renew = false;
  // Replaces an existing authority, and with it every certificate.
  bool replace_authority = false;
};

struct KeygenReport {
  struct Entry {
    Holder holder;
    std::string certificate;       // its file
    std::int64_t valid_until = 0;  // seconds since 1970
    bool made = false;             // false if it existed already
  };
  bool authority_made = false;
  std::int64_t authority_valid_until = 0;
  std::vector<Entry> entries;  // the tasks in their order, then the client
};

// Makes an authority (ca.crt, ca.key) unless there is one, and a certificate with its key for each task,
// and for clients, without a valid one of this authority. The folder has mode 0700, its files 0600; each
// file is written whole or not at all. Throws failed_precondition for an authority that cannot sign any
// more, permission_denied for a folder that others may write to, disk_error if a file cannot be written.
KeygenReport generate_keys(const KeygenOptions& options);

// Credentials of the tasks alone, by a new authority whose key nobody keeps: no file is written. Of the
// options only the tasks and the times count.
std::map<TaskName, Credentials> make_credentials(const KeygenOptions& options);

}  // namespace actorflow
