// The servers of this process by target, so that a session beside its server needs no socket.
#pragma once

#include <caf/actor.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "schema/master.h"

namespace actorflow {

class Runtime;

// A handle on the master of a server in this process.
class LocalMaster {
 public:
  LocalMaster(const std::shared_ptr<Runtime>& runtime, caf::actor master)
      : runtime_(runtime), master_(std::move(master)) {}

  // Waits for the answer. Throws cancelled if the server has ended. Thread-safe.
  MasterReply call(MasterRequest request) const;
  bool is(const caf::actor& master) const { return master_ == master; }

 private:
  std::weak_ptr<Runtime> runtime_;
  caf::actor master_;
};

// Thread-safe.
class LocalServers {
 public:
  void add(const std::string& target, LocalMaster master);
  void remove(const std::string& target, const caf::actor& master);
  // The master of the newest server with that target, if there is one. There are several in a simulation
  // only, where what a killed process leaves stands beside the process that has come back.
  std::optional<LocalMaster> find(const std::string& target) const;

 private:
  mutable std::mutex mutex_;
  std::multimap<std::string, LocalMaster, std::less<>> masters_;
};

LocalServers& local_servers();

}  // namespace actorflow
