// The actor of a task that takes part in collective operations, for the task's programs and graphs.
#pragma once

#include <array>
#include <atomic>
#include <caf/stateful_actor.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/collectives/engine/graph_call.h"
#include "actors/collectives/engine/link_probe.h"
#include "actors/collectives/engine/openings.h"
#include "actors/collectives/engine/rank_group.h"
#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// A program -> collectives: open a group of these tasks, in the order of ranks. The reply comes when all
// of them have done so, or it fails: already_exists if the task has a group of that name.
struct OpenGroup {
  std::string name;
  std::vector<std::string> members;
  std::vector<std::string> hosts;  // of the ranks; none: by the addresses of their tasks
  PlanOptions options;
  // The costs are those by which the leader chooses algorithms.
  std::function<void(Status, const CostModel& costs)> reply;
};
// A program -> collectives: leave it; with a reason, if what the others do is to fail. The reply comes
// when the others have been told.
struct CloseGroup {
  std::string name;
  Status why;
  std::function<void(bool)> reply;
};
struct CallGroup {
  std::string group;
  GroupCall call;
};
struct JoinGroup {
  std::string group;
  std::function<void(Status, int last)> reply;
};

// A program -> collectives: who waits for whom in this group?
struct AskGroup {
  std::string group;
  RankGroup::WaitsReply reply;
};

// server -> collectives, before the task ends: the reply comes when the other ranks have heard why their
// groups are over, 1.5 s later at most.
struct AwaitHeard {
  std::function<void(bool)> reply;
};
// To itself: the wait for that has lasted long enough.
struct EndFarewell {};

// To itself, a while after a connection was lost: decide which ranks are lost.
struct JudgeSuspects {};
// To itself, a while after it began to measure: use what there is.
struct EndProbe {
  std::string group;
  std::uint64_t attempt = 0;
};

class Collectives;

// The way for calling threads to use the actor's state directly. The state belongs to whoever holds the
// mutex; the actor holds it while it runs.
struct Entrance {
  std::mutex mutex;
  Collectives* inside = nullptr;  // guarded by it; none: the actor has not begun, or has ended
  std::atomic<int> coming = 0;    // CallGroups that the actor has still to take: they come first
};

class Collectives {
 public:
  // REQUIRES: the entrance outlives this.
  Collectives(GuardedActor* self, Entrance& entrance, TaskRef task);
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;
  ~Collectives() { entrance_.inside = nullptr; }

  caf::behavior behavior();
  // For a thread that holds the entrance's mutex, as RankGroup's functions of these names.
  RankGroup::Glance glance(const std::string& group, GroupCall& call);
  void call_here(CallGroup& message);
  // Without a word if there is no such group.
  void break_up(const std::string& group, const Status& why);
  void refuse(const OpenGroup& message, Status why);
  void refuse(const CallGroup& message, Status why);
  void refuse(const JoinGroup& message, Status why);
  void refuse(const AskGroup& message, Status why);
  void refuse(const AwaitHeard& message, const Status& why);
  void refuse(const Sender& from, const ActorMessage& message, const Status& why);

 private:
  enum class LinkKind : std::uint8_t { host, network };
  struct Member {
    std::unique_ptr<RankGroup> group;
    std::uint64_t attempt = 0;  // the Hello that we wait for an answer to; 0: none
    std::function<void(Status, const CostModel&)> opened;
    std::array<std::optional<LinkCost>, 2> links;  // by LinkKind, as this opening has measured them
    std::optional<LinkProbe> probe;
    LinkKind probed = LinkKind::host;
    TaskId probed_task{};
    StepId begun_by = 0;  // the step of a graph that has opened it, with GroupLife::begins
    Clock::time_point since{}, next_report{};
    std::uint64_t welcomed = 0;  // the leader's: the life to which all are invited, until it begins here
  };
  void open(const OpenGroup& message);
  void close(const CloseGroup& message);
  void call(CallGroup& message);
  void call(StateCall& message);
  void ask_waits(const std::string& group, RankGroup::WaitsReply reply);
  void report_waits(const StateCall& message);
  void begin_life(const GraphCall& graph);
  void end_steps(const JobOver& message);
  void raise(FencingEpoch epoch);
  void break_up_graphs(const Status& why);
  RankGroup& group(const std::string& name);

  void say_hello(Member& member);
  void try_to_welcome(Member& member);
  std::optional<std::string> difference(const Member& member);
  void welcome(Member& member);
  void turn_away(Member& member, const Status& why);
  std::vector<std::string> missing(const Member& member);
  std::string why_not_open(const Member& member);
  void report_missing(Member& member);

  // collectives_links.cpp
  bool measures(Member& member);
  void begin_probe(Member& member, LinkKind kind, TaskId task);
  LinkProbe::Send send_probe(const Member& member) const;
  void on_probe(const Sender& from, const rank_messages::Probe& probe, const Tensor& payload);
  void on_probed(const Sender& from, const rank_messages::Probed& answer);
  void on_end_of_probe(const EndProbe& message);
  void end_probe(Member& member);
  void begin_probe_anew(Member& member, TaskId lost);
  CostModel costs_of(const Member& member) const;

  void on_message(const Sender& from, ActorMessage& message);
  void confirm(const Sender& from, const ActorMessage& message) const;
  bool on_opening(const Sender& from, const ActorMessage& message);
  void refuse_opening(const Sender& from, const ActorMessage& message, const Status& why);
  void on_hello(const Sender& from, const rank_messages::Hello& hello);
  void on_welcome(const rank_messages::Welcome& message);
  void begin_again_for_late(Member& member);
  void on_not_welcome(const rank_messages::NotWelcome& message);
  RankGroup* of_life(std::uint64_t life);
  bool is_opening() const;
  void on_lost(const PeerLost& lost);
  void lose_while_opening(Member& member, const PeerLost& lost);
  void judge_suspects();
  void tick();
  void keep_ticking();

  GuardedActor* self_;
  Entrance& entrance_;
  TaskRef task_;
  UnheardNews news_;
  std::map<std::string, Member, std::less<>> groups_;
  Openings openings_;
  std::uint64_t last_attempt_ = 0;
  std::array<std::optional<LinkCost>, 2> links_;  // by LinkKind, once they are measured
  // Messages of a life that is not open here yet: others may be told of it before this task.
  std::vector<std::pair<Sender, ActorMessage>> early_;
  bool ticking_ = false;
  FencingEpoch epoch_ = 0;
  Status over_;  // not ok: the job is over, and no step waits any more
};

class CollectivesActor : public caf::stateful_actor<std::unique_ptr<Collectives>, MeasuredActor> {
 public:
  using Base = caf::stateful_actor<std::unique_ptr<Collectives>, MeasuredActor>;
  explicit CollectivesActor(caf::actor_config& config) : Base(config) {}

  resume_result resume(caf::execution_unit* unit, std::size_t max_messages) override {
    const std::scoped_lock lock(entrance.mutex);
    return Base::resume(unit, max_messages);
  }

  Entrance entrance;
};
caf::behavior collectives_actor(CollectivesActor* self, TaskRef task);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::OpenGroup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CloseGroup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CallGroup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JoinGroup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AskGroup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AwaitHeard)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::EndFarewell)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JudgeSuspects)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::EndProbe)
