// What a task has told others of the end of groups, until they have heard it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "actors/core/messages.h"

namespace actorflow {

// A task that goes away before the others have heard why its group is over would be named as the lost
// one itself: their connections to it end at once, while its words may still wait for one. So each of its
// messages with such news has a number, which is confirmed (rank_messages::Heard). A task that is lost
// confirms nothing, and is not waited for.
//
// Belongs to the task's actor, or to the thread that holds its lock (collectives.h).
class UnheardNews {
 public:
  // The number of news that is about to be sent to that task; 0, which is not confirmed, if the task is
  // known to be lost.
  std::uint64_t number_for(const Sender& to);
  void heard(const Sender& by, std::uint64_t number);
  void lose(const PeerLost& lost);
  bool all_heard() const { return unheard_.empty(); }
  // Waits for none of the news any more.
  void give_up();
  // Calls reply(true) once all news has been heard, or is given up.
  void when_heard(std::function<void(bool)> reply);

 private:
  void answer_if_heard();

  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Sender> unheard_;         // by number
  std::map<TaskId, std::uint64_t> lost_;            // the newest incarnation that was lost
  std::vector<std::function<void(bool)>> replies_;  // of those who wait
};

}  // namespace actorflow
