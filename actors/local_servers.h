// The servers of this process by target, so that a session beside its server needs no socket.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "schema/master.h"

namespace actorflow {

// Thread-safe.
class LocalServers {
 public:
  void add(const std::string& target, MasterHandler master);
  void remove(const std::string& target);
  // Empty if there is no such server.
  MasterHandler find(const std::string& target) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, MasterHandler, std::less<>> masters_;
};

LocalServers& local_servers();

}  // namespace actorflow
