#include "actors/local_servers.h"

#include <utility>

namespace actorflow {

void LocalServers::add(const std::string& target, MasterHandler master) {
  const std::scoped_lock lock(mutex_);
  masters_[target] = std::move(master);
}

void LocalServers::remove(const std::string& target) {
  const std::scoped_lock lock(mutex_);
  masters_.erase(target);
}

MasterHandler LocalServers::find(const std::string& target) const {
  const std::scoped_lock lock(mutex_);
  const auto found = masters_.find(target);
  return found == masters_.end() ? MasterHandler() : found->second;
}

LocalServers& local_servers() {
  static auto* instance = new LocalServers;  // servers may outlive other statics
  return *instance;
}

}  // namespace actorflow
