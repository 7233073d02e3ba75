// The messages that one sender has under way to users' actors: numbered, until they are handled or
// answered.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/task_context.h"
#include "actors/named/message_mark.h"
#include "actors/named/message_type.h"
#include "actors/named/send_window.h"

namespace actorflow {

// An actor by its task and its name there.
using ActorAddress = std::pair<TaskId, std::string>;

struct OutgoingMessage {
  ActorAddress to{};
  bool ask = false;
  std::string type{};
  Tensor payload{};
  SendWindow::ShareRef share{};  // held until the message is handled or answered, or given up
  Clock::time_point deadline = Clock::never;
  // Called at most once: with the answer to an ask, with an error of a tell.
  std::function<void(RawAnswer)> answered{};
};

// Belongs to an actor, to which the answers come: "from" of its messages is its name. A message that may
// be lost is given up as unavailable; it is not sent again.
class OutgoingStreams {
 public:
  OutgoingStreams(TaskRef task, std::string own_name)
      : task_(std::move(task)), own_name_(std::move(own_name)) {}

  void send(OutgoingMessage message);
  // An answer of an actor: a reply or `done`. Functions `answered` are called from here.
  void take(const Sender& from, const MessageMark& mark, ActorMessage& message);
  // An answer of a switchboard.
  void take_not_found(const Sender& from, const ActorMessage& message);
  void lose(const PeerLost& lost);
  // Call it now and then while anything is under way: ends asks whose time is over, logs for whom the
  // sender waits, and asks actors that have been silent what they have handled.
  void tick();
  bool idle() const;
  // Of how many actors something is known. Where they are more than `few`, tick() forgets those to which
  // nothing is under way: a program may write to ever new names.
  std::size_t size() const { return streams_.size(); }
  static constexpr std::size_t few = 1024;
  // Calls no `answered` of earlier messages any more.
  void forget_answers();

 private:
  struct Waiting {
    bool ask = false;
    std::string type;
    SendWindow::ShareRef share;
    Clock::time_point deadline;
    std::function<void(RawAnswer)> answered;
  };
  struct Stream {
    // Whether all that was sent was handled, or given up.
    bool is_settled() const { return waiting.empty() && (handled == last || first > last); }

    std::uint64_t first = 1;  // its number
    std::uint64_t last = 0;
    std::uint64_t handled = 0;                 // so far, as the actor has said
    std::map<std::uint64_t, Waiting> waiting;  // by number
    std::uint64_t incarnation = 0;             // of the actor's task, once it has answered
    Clock::time_point heard{}, probed{}, next_report{};
  };
  using Entry = std::map<ActorAddress, Stream>::value_type;

  Entry& entry_of(const ActorAddress& to);
  void forget_settled();
  void post(const Entry& entry, MessageMark::Kind kind, const std::string& type, std::uint64_t number,
            Tensor payload) const;
  void give_up(Entry& entry, Code code, const std::string& why);
  void end_late_asks(Entry& entry);
  void attend(Entry& entry);
  std::string name_of(const ActorAddress& actor) const;

  TaskRef task_;
  const std::string own_name_;
  std::map<ActorAddress, Stream> streams_;
  std::uint64_t forgotten_ = 0;  // the highest number of streams that were forgotten
  std::size_t many_ = few;
};

}  // namespace actorflow
