#include "actors/local_servers.h"

#include <caf/send.hpp>
#include <utility>

#include "actors/messages.h"
#include "actors/runtime.h"

namespace actorflow {
namespace {

// A question that is out. Who answers it, or drops it because its task ends, lets the client go on; the
// client waits for that, so `answer` lives long enough.
class Question {
 public:
  Question(Waker& client, std::optional<MasterReply>& answer) : client_(client), answer_(answer) {}
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  ~Question() { client_.wake(); }

  void answer(MasterReply reply) { answer_ = std::move(reply); }

 private:
  Waker& client_;
  std::optional<MasterReply>& answer_;
};

Error server_ended() { return Error(Code::cancelled, "the server of this session has ended"); }

}  // namespace

MasterReply LocalMaster::call(MasterRequest request) const {
  const auto runtime = runtime_.lock();
  if (!runtime) throw server_ended();
  std::optional<MasterReply> answer;
  runtime->wait([&](Waker& client) {
    auto question = std::make_shared<Question>(client, answer);
    caf::anon_send(master_, MasterCall{std::move(request), [question](MasterReply reply) {
                                         question->answer(std::move(reply));
                                       }});
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
