// The files by which the tasks of a cluster and its clients know each other: what `actorflow keygen`
// does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/credentials.h"

namespace actorflow {

struct KeygenOptions {
  std::string folder;
  std::vector<TaskName> tasks;  // besides the client
  // Certificates are valid from an hour before `now`, for machines whose clocks differ. Seconds since
  // 1970.
  std::int64_t now = 0;
  int days = 365;
  int authority_days = 3650;
  // Makes certificates anew that are there already.
  bool renew = false;
  // Replaces an authority that is there, and with it every certificate.
  bool replace_authority = false;
};

struct KeygenReport {
  struct Entry {
    Holder holder;
    std::string certificate;       // its file
    std::int64_t valid_until = 0;  // seconds since 1970
    bool made = false;             // else it was there
  };
  bool authority_made = false;
  std::int64_t authority_valid_until = 0;
  std::vector<Entry> entries;  // the tasks in their order, then the client
};

// Makes an authority (ca.crt, ca.key) unless there is one, and a certificate with its key for each task
// and for clients that has none yet, an expired one, or one of another authority. The folder is made
// with mode 0700, its files with 0600; each file is there whole or not at all. Throws
// failed_precondition for an authority that cannot sign any more, permission_denied for a folder that
// others may write to, disk_error where a file cannot be written.
KeygenReport generate_keys(const KeygenOptions& options);

}  // namespace actorflow
