// The credentials of a folder, for the tasks and the client of this process. Internal to schema/:
// includes OpenSSL.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "schema/tls/tls_context.h"

namespace actorflow {

// Reads credentials when they are first needed, and again when a file has changed, so that renewed
// certificates count from the next connection on. Thread-safe.
class KeyRing {
 public:
  // An empty folder name means no credentials. `on_warning` reports why renewed files are not used.
  KeyRing(std::string folder, std::function<void(const std::string&)> on_warning)
      : folder_(std::move(folder)), on_warning_(std::move(on_warning)) {}

  bool empty() const { return folder_.empty(); }
  // The context of a holder; null without credentials. Throws as read_credentials() and TlsContext do.
  std::shared_ptr<const TlsContext> context(const Holder& holder);

 private:
  struct Entry {
    std::filesystem::file_time_type changed;
    std::shared_ptr<const TlsContext> context;
  };
  void reload(const Holder& holder, Entry& entry);

  const std::string folder_;
  const std::function<void(const std::string&)> on_warning_;
  std::mutex mutex_;
  std::map<Holder, Entry> entries_;  // guarded by mutex_
};

}  // namespace actorflow
