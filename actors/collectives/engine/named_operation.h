// A named operation of a group on this rank: the uses of its name, one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/collectives/engine/group_call.h"
#include "actors/collectives/engine/rank_mail.h"
#include "actors/collectives/engine/rank_messages.h"
#include "actors/collectives/operation/board.h"
#include "actors/collectives/operation/operation.h"
#include "actors/runtime/clock.h"

namespace actorflow {

// A use goes through these states:
//
//   idle -> announced            announce(): this rank has called it
//   announced -> running         begin(): what it calls is what all have agreed on
//   running -> announced         revise(): another rank wants something else in this use
//   announced or running -> idle end(): with a result, or an error
//
// What is always so:
//   - Uses are numbered from 1 on, the same on all ranks. used() is the present one's, or when idle the
//     last one's. A use is over on no rank before all have entered it.
//   - running: the operation carries out agreed(), and takes the parts of its use and version. Parts of
//     earlier uses are dropped, and those that come too early are kept for their use.
//   - Agreements follow each other by their versions. One that comes late is dropped.
//
// Belongs to the group, which sends the messages.
class NamedOperation {
 public:
  enum class State : std::uint8_t { idle, announced, running };

  // The use in flight.
  struct Use {
    GroupCall call;
    bool of_zeros = false;                   // we have joined, and take part for the others' sake
    std::unique_ptr<Operation> operation{};  // running
    Clock::time_point since{}, next_report{};
    std::optional<std::map<int, rank_messages::Standing>> asked{};  // what other ranks have answered
  };
  // What this rank shows in place of messages, and what others show it.
  struct OnBoard {
    std::optional<Board> board;
    std::vector<std::pair<rank_messages::Page, Tensor>> pages;  // of others, for the board
    std::uint64_t woken_in = 0;  // the newest use in which a message was needed beside the board
    bool to_look = false;        // the use in flight has still to look at it
  };

  // `used`: the uses that this rank has entered before. `version`: the newest of its agreements.
  explicit NamedOperation(std::string name, std::uint64_t used = 0, std::uint32_t version = 0)
      : name_(std::move(name)), used_(used), version_(version) {}

  const std::string& name() const { return name_; }
  std::uint64_t used() const { return used_; }
  rank_messages::UseOf of() const { return {name_, used_}; }
  State state() const;
  bool idle() const { return !use_; }
  bool running() const { return state() == State::running; }
  bool in_flight(std::uint64_t number) const { return use_ && used_ == number; }
  // Whether nothing has come for uses to come, and none of them waits.
  bool nothing_waits() const;
  // REQUIRES: not idle.
  Use& use() { return *use_; }
  const Use& use() const { return *use_; }
  const std::optional<rank_messages::Agreed>& agreed() const { return agreed_; }
  // The newest agreement's; 0: there was none.
  std::uint32_t version() const { return version_; }

  // Counts the use that comes next. The error with which it has failed elsewhere; nothing: it has not,
  // as far as is known.
  std::optional<Status> count_use();
  // REQUIRES: idle, and the use is counted.
  void announce(GroupCall call, bool of_zeros, Clock::time_point now);
  // Whether the call is what was agreed on, so that all can begin at once. REQUIRES: announced.
  bool is_agreed() const;
  // Makes the operation and gives it the parts that have come. Throws for a plan that cannot be carried
  // out, as for want of memory. REQUIRES: announced, agreed.
  void begin(const RankMail& mail);
  // Whether the call has to be proposed for the present use.
  bool revise(const rank_messages::Revise& message);
  // False if it comes late. A use that runs by an older agreement is announced again.
  bool agree(const rank_messages::Agreed& message);
  // Whether the use in flight may go on with it.
  bool take(const rank_messages::Part& part, const Tensor& payload);
  // A use has failed elsewhere. Whether it is the one in flight.
  bool fail(const rank_messages::UseOf& of, const Status& why);
  // The call, which is no longer in flight. REQUIRES: not idle.
  GroupCall end();

  OnBoard on_board;
  std::optional<rank_messages::Wake> wake;  // take part with zeros, once this rank is there
  std::optional<GroupCall> next;            // a call behind a use of zeros
  Clock::time_point next_warning{};         // that others wait for this rank

 private:
  struct EarlyPart {
    rank_messages::Part part;
    Tensor payload;
  };

  const std::string name_;
  std::uint64_t used_;
  std::optional<Use> use_;
  std::optional<rank_messages::Agreed> agreed_;
  std::uint32_t version_;
  std::uint64_t propose_at_ = 0;            // this use, though the call is what was agreed on
  std::map<std::uint64_t, Status> failed_;  // uses to come
  std::vector<EarlyPart> early_;
};

}  // namespace actorflow
