#include "actors/collectives/engine/collectives.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "actors/core/fence.h"
#include "actors/named/switchboard.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 1s;
constexpr auto judge_interval = 100ms;
// How long a task that ends waits until the others have heard why its groups are over.
constexpr auto longest_farewell = 1500ms;

}  // namespace

Collectives::Collectives(GuardedActor* self, Entrance& entrance, TaskRef task)
    : self_(self), entrance_(entrance), task_(std::move(task)) {
  entrance_.inside = this;
}

caf::behavior Collectives::behavior() {
  self_->introduce("collectives", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](const OpenGroup& message) { open(message); },
      [this](const CloseGroup& message) {
        close(message);
        message.reply(true);
      },
      [this](CallGroup& message) {
        --entrance_.coming;
        call(message);
      },
      [this](const JoinGroup& message) {
        group(message.group).join(message.reply);
        keep_ticking();
      },
      [this](const AskGroup& message) { ask_waits(message.group, message.reply); },
      [this](StateCall& message) {
        if (message.node->op == &collective_waits_op()) return report_waits(message);
        call(message);
      },
      [this](const GiveUp& message) {
        for (auto& [name, member] : groups_) member.group->give_up(message.step);
      },
      [this](const JobOver& message) { end_steps(message); },
      [this](const AwaitHeard& message) {
        news_.when_heard(message.reply);
        if (!news_.all_heard()) self_->delayed_send(self_, longest_farewell, EndFarewell{});
      },
      [this](EndFarewell) { news_.give_up(); },
      [this](const EpochRaised& message) { raise(message.epoch); },
      [this](const Sender& from, ActorMessage& message) { on_message(from, message); },
      [this](const PeerLost& lost) { on_lost(lost); }, [this](JudgeSuspects) { judge_suspects(); },
      [this](const EndProbe& message) { on_end_of_probe(message); }, [this](Tick) { tick(); });
}

void Collectives::refuse(const OpenGroup& message, Status why) { message.reply(std::move(why), {}); }
// Once the group has the call, nobody can say how far it has come with it.
void Collectives::refuse(const CallGroup& message, Status why) {
  if (message.call.reply) return message.call.reply({std::move(why)});
  break_up(message.group, why);
}
void Collectives::refuse(const JoinGroup& message, Status why) { message.reply(std::move(why), 0); }
void Collectives::refuse(const AskGroup& message, Status why) { message.reply(std::move(why), {}); }
void Collectives::refuse(const AwaitHeard& message, const Status&) { message.reply(false); }

// Whoever waits for the message would wait for ever.
void Collectives::refuse(const Sender& from, const ActorMessage& message, const Status& why) {
  const std::string what =
      fmt::format("{} could not take a message {} of {}: {}", task_->self.name.to_string(), message.type,
                  task_->name_of(from.task).to_string(), why.message);
  spdlog::warn("{}", what);
  if (auto* group = of_life(message.request)) return group->break_up({why.code, what});
  try {
    refuse_opening(from, message, {why.code, what});
  } catch (const Error&) {  // it is none that can be read: nobody knows who waits
  }
}

RankGroup& Collectives::group(const std::string& name) {
  const auto found = groups_.find(name);
  if (found == groups_.end())
    throw Error(Code::failed_precondition,
                fmt::format("{} has no group '{}'", task_->self.name.to_string(), name));
  return *found->second.group;
}

void Collectives::open(const OpenGroup& message) {
  if (groups_.contains(message.name))
    throw Error(Code::already_exists,
                fmt::format("{} has a group '{}' already; give another one another name",
                            task_->self.name.to_string(), message.name));
  std::vector<TaskId> members;
  for (const auto& name : message.members) members.push_back(task_->id_of(TaskName::parse(name)));
  Member member;
  member.group = std::make_unique<RankGroup>(RankMail(task_, std::move(members), news_, message.hosts),
                                             message.name, message.options);
  member.opened = message.reply;
  say_hello(groups_.emplace(message.name, std::move(member)).first->second);
}

void Collectives::close(const CloseGroup& message) {
  const auto found = groups_.find(message.name);
  if (found == groups_.end()) return;
  Member& member = found->second;
  const RankMail& mail = member.group->mail();
  if (member.attempt != 0 && mail.leads())
    turn_away(member,
              {Code::deadline_exceeded, fmt::format("the group '{}' was given up: not there are {}",
                                                    message.name, fmt::join(missing(member), ", "))});
  else if (member.attempt != 0)
    mail.to_leader(rank_messages::Goodbye{message.name, member.attempt});
  if (!message.why.ok()) member.group->break_up(message.why);
  member.group->close();
  groups_.erase(found);
}

void Collectives::call(CallGroup& message) {
  group(message.group).call(std::move(message.call));
  keep_ticking();
}

RankGroup::Glance Collectives::glance(const std::string& group, GroupCall& call) {
  const auto found = groups_.find(group);
  return found == groups_.end() ? RankGroup::Glance{} : found->second.group->glance(call);
}

void Collectives::break_up(const std::string& group, const Status& why) {
  const auto found = groups_.find(group);
  if (found != groups_.end()) found->second.group->break_up(why);
}

// Only the actor itself may send itself something for later.
void Collectives::call_here(CallGroup& message) {
  try {
    group(message.group).call(std::move(message.call));
  } catch (...) {
    refuse(message, current_exception_status());
  }
  if (!std::exchange(ticking_, true)) caf::anon_send(caf::actor_cast<caf::actor>(self_), Tick{});
}

// A graph's group opens with its first call, and anew with the first one after a failure; unless the
// node belongs to a certain life.
void Collectives::call(StateCall& message) {
  GraphCall graph = graph_call(message, *task_);
  if (!over_.ok()) return graph.fail(over_);
  if (graph.life == GroupLife::begins) begin_life(graph);
  const auto found = groups_.find(graph.group);
  const bool broken = found != groups_.end() && !found->second.group->broken().ok();
  if (graph.life == GroupLife::continues && (broken || found == groups_.end()))
    return graph.fail(
        broken ? found->second.group->broken()
               : Status{Code::aborted, fmt::format("{}: the ranks have to begin together before '{}'",
                                                   task_->self.name.to_string(), graph.call.name)});
  if (broken) groups_.erase(found);
  if (!groups_.contains(graph.group))
    open({graph.group, graph.members, {}, {}, [](const Status&, const CostModel&) {}});
  RankGroup& ranks = group(graph.group);
  if (graph.join)
    ranks.join(std::move(graph.join), graph.call.step);
  else
    ranks.call(std::move(graph.call));
  keep_ticking();
}

// A step that has begun just now would wait for ranks that have left.
void Collectives::end_steps(const JobOver& message) {
  over_ = message.reason;
  break_up_graphs(over_);
  news_.give_up();  // all are told of the end otherwise
}

// A replica that wants to go back to a checkpoint closes the epoch in which all train (epoch_fence.h),
// and takes part in no step of it any more. The first epoch ends no training.
void Collectives::raise(FencingEpoch epoch) {
  const bool ends_training = epoch_ != 0 && epoch % 2 != 0;
  epoch_ = epoch;
  if (ends_training) break_up_graphs(fenced("a step waited for other ranks", epoch, *task_));
}

void Collectives::break_up_graphs(const Status& why) {
  for (auto& [name, member] : groups_)
    if (name.starts_with(graph_groups)) member.group->break_up(why);
}

// Ends the present life, whose other ranks may be in the middle of a step, unless this step has begun it
// or it has not begun.
void Collectives::begin_life(const GraphCall& graph) {
  const auto found = groups_.find(graph.group);
  if (found != groups_.end()) {
    Member& member = found->second;
    if (std::exchange(member.begun_by, graph.call.step) == graph.call.step) return;
    if (member.attempt != 0) return;
    member.group->break_up({Code::aborted, fmt::format("{} begins anew", task_->self.name.to_string())});
    groups_.erase(found);
  }
  open({graph.group, graph.members, {}, {}, [](const Status&, const CostModel&) {}});
  groups_.find(graph.group)->second.begun_by = graph.call.step;
}

void Collectives::on_message(const Sender& from, ActorMessage& message) {
  // One that the link could not carry is not answered, and does not count.
  if (!message.status.ok() && message.type == message_type<rank_messages::Probe>()) return;
  confirm(from, message);
  if (message.type == not_found_type || on_opening(from, message)) return;
  if (auto* group = of_life(message.request))
    group->take(from, message);
  else if (is_opening())
    early_.emplace_back(from, std::move(message));
  keep_ticking();
}

RankGroup* Collectives::of_life(std::uint64_t life) {
  for (auto& [name, member] : groups_)
    if (life != 0 && member.group->mail().life() == life) return member.group.get();
  return nullptr;
}

bool Collectives::is_opening() const {
  return std::ranges::any_of(groups_, [](const auto& entry) { return entry.second.attempt != 0; });
}

void Collectives::on_lost(const PeerLost& lost) {
  for (auto& [name, member] : groups_)
    if (member.attempt != 0 && !name.starts_with(graph_groups)) lose_while_opening(member, lost);
  openings_.lose(lost);
  news_.lose(lost);
  for (auto& [name, member] : groups_) {
    const bool leader = member.group->mail().rank_of(lost.task) == leading_rank;
    if (member.attempt == 0)
      member.group->lose(lost);
    else if (leader)
      say_hello(member);  // it may come back
    else
      begin_probe_anew(member, lost.task);
  }
  self_->delayed_send(self_, RankGroup::last_words, JudgeSuspects{});
}

void Collectives::judge_suspects() {
  bool again = false;
  for (auto& [name, member] : groups_) again |= member.group->judge_suspects();
  if (again) self_->delayed_send(self_, judge_interval, JudgeSuspects{});
}

void Collectives::tick() {
  ticking_ = false;
  for (auto& [name, member] : groups_) {
    member.group->tick();
    if (member.attempt != 0) report_missing(member);
  }
  keep_ticking();
}

void Collectives::keep_ticking() {
  const bool needed = std::ranges::any_of(groups_, [](const auto& entry) {
    return entry.second.attempt != 0 || entry.second.group->needs_ticks();
  });
  if (!needed || std::exchange(ticking_, true)) return;
  self_->delayed_send(self_, tick_interval, Tick{});
}

caf::behavior collectives_actor(CollectivesActor* self, TaskRef task) {
  self->state = std::make_unique<Collectives>(self, self->entrance, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
