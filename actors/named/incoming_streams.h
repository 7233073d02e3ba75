// The messages that come to a user's actor: each once, in the order of its sender.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "actors/named/message_mark.h"
#include "actors/named/outgoing_streams.h"

namespace actorflow {

// Belongs to an actor.
class IncomingStreams {
 public:
  struct Arrived {
    Sender from;
    MessageMark mark;
    ActorMessage message;
  };
  // News for a sender: up to which number its messages have been taken.
  struct Done {
    ActorAddress to;
    std::uint64_t stream = 0;
    std::uint64_t number = 0;
  };

  // Adds a tell or an ask. One that has come before is dropped, and so is one of an earlier stream than
  // the sender's newest.
  void add(Arrived arrived);
  // Takes the sender's next message; none if it has not come yet.
  std::optional<Arrived> take(const ActorAddress& sender);
  // The news for a sender that has not been told of `news` taken messages or more, which count as told
  // from now on; none for other senders.
  std::optional<Done> take_done(const ActorAddress& sender, std::uint64_t news);
  // Whether the sender was told of all its messages that were taken.
  bool is_told(const ActorAddress& sender) const;
  // The senders that were not told of all.
  std::vector<ActorAddress> untold() const;

 private:
  struct Stream {
    std::uint64_t incarnation = 0;  // of the sender's task
    std::uint64_t first = 0;        // its number
    std::uint64_t next = 0;         // what is taken next
    std::uint64_t told = 0;
    std::map<std::uint64_t, Arrived> early;
  };

  std::map<ActorAddress, Stream> streams_;
};

}  // namespace actorflow
