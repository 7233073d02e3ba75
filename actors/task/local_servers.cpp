#include "actors/task/local_servers.h"

#include <algorithm>
#include <caf/send.hpp>
#include <iterator>
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
  masters_.emplace(target, std::move(master));
}

void LocalServers::remove(const std::string& target, const caf::actor& master) {
  const std::scoped_lock lock(mutex_);
  const auto [begin, end] = masters_.equal_range(target);
  const auto found =
      std::find_if(begin, end, [&](const auto& entry) { return entry.second.is(master); });
  if (found != end) masters_.erase(found);
}

std::optional<LocalMaster> LocalServers::find(const std::string& target) const {
  const std::scoped_lock lock(mutex_);
  const auto [begin, end] = masters_.equal_range(target);
  if (begin == end) return std::nullopt;
  return std::prev(end)->second;
}

LocalServers& local_servers() {
  static auto* instance = new LocalServers;  // servers may outlive other statics
  return *instance;
}

}  // namespace actorflow
