// The leader's side of opening groups: who has said hello.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/collectives/engine/rank_mail.h"

namespace actorflow {

// Hellos may come before the leader's own program opens the group, and are kept until then.
class Openings {
 public:
  struct Guest {
    std::uint64_t incarnation = 0;  // of its task
    std::uint64_t attempt = 0;      // the newest that has come
    bool waits = false;
    std::vector<std::string> members, hosts;
  };
  using Guests = std::map<TaskId, Guest>;

  // Keeps a task's wish to open a group. False if it, or a later one of the task, has come before.
  bool add(const Sender& from, const rank_messages::Hello& hello);
  void remove(const Sender& from, const rank_messages::Goodbye& goodbye);
  void lose(const PeerLost& lost);
  const Guests& of(const std::string& group) { return guests_[group]; }
  // Marks the group's guests as answered: none of them waits any more.
  void answered(const std::string& group);

 private:
  std::map<std::string, Guests, std::less<>> guests_;
};

}  // namespace actorflow
