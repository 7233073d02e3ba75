#include "actors/task/local_servers.h"

#include <caf/send.hpp>
#include <utility>

#include "actors/core/ask.h"
#include "actors/core/messages.h"
#include "actors/runtime/runtime.h"

namespace actorflow {
namespace {

Error server_ended() { return Error(Code::cancelled, "the server of this session has ended"); }

}  // namespace

MasterReply LocalMaster::call(MasterRequest request) const {
  const auto runtime = runtime_.lock();
  if (!runtime) throw server_ended();
  auto answer = ask<MasterReply>(*runtime, [&](MasterReplyFn reply) {
    caf::anon_send(master_, MasterCall{std::move(request), std::move(reply)});
  });
  if (!answer) throw server_ended();
  return std::move(*answer);
}

void LocalServers::add(const std::string& target, LocalMaster master) {
  const std::scoped_lock lock(mutex_);
  masters_.insert_or_assign(target, std::move(master));
}

void LocalServers::remove(const std::string& target) {
  const std::scoped_lock lock(mutex_);
  masters_.erase(target);
}

std::optional<LocalMaster> LocalServers::find(const std::string& target) const {
  const std::scoped_lock lock(mutex_);
  const auto found = masters_.find(target);
  if (found == masters_.end()) return std::nullopt;
  return found->second;
}

LocalServers& local_servers() {
  static auto* instance = new LocalServers;  // servers may outlive other statics
  return *instance;
}

}  // namespace actorflow
