// The end of a group: ranks that are lost, leave, or give up a step.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "actors/collectives/engine/rank_group.h"

namespace actorflow {

using namespace rank_messages;

namespace {

void answer_once(GroupCall& call, const Status& why) {
  answer(call, {why});
  call.reply = {};
}

}  // namespace

// Everybody hears of it from whoever notices: ranks that do not talk to the lost one would not. One that
// has left drops what comes.
void RankGroup::break_up(const Status& why) {
  if (!broken_.ok()) return;
  for (int rank = 0; is_open() && rank < mail_.size(); ++rank)
    if (rank != mail_.rank() && !left_.contains(rank)) mail_.tell_end(rank, why);
  end_with(why);
}

// Answers first: where that fails, the group is not broken yet, and whoever breaks it up again answers
// the rest.
void RankGroup::end_with(const Status& why) {
  for (NamedOperation& named : names_.all()) {
    if (!named.idle()) answer_once(named.use().call, why);
    if (named.next) answer_once(*named.next, why);
  }
  for (auto& call : waiting_) answer_once(call, why);
  if (join_reply_) join_reply_(why, 0);
  join_reply_ = {};
  answer_questions(why);
  broken_ = Status(why);
  in_flight_ = 0;
  suspects_.clear();
  survey_.reset();
  waiting_.clear();
  drop_names();
}

// What others may still read stays as long as the group where they cannot be told to let go of it.
void RankGroup::drop_names() {
  for (NamedOperation& named : names_.all()) {
    if (!named.idle()) named.end();
    named.next.reset();
  }
  try {
    for (NamedOperation& named : names_.all()) drop_board(named);
    names_.clear();
  } catch (const std::exception& error) {
    spdlog::warn("{}: what ranks have shown in '{}' stays: {}", who(), name_, error.what());
  }
}

void RankGroup::lose(const PeerLost& lost) {
  const int rank = mail_.rank_of(lost.task);
  if (rank < 0 || !is_open()) return;
  // An incarnation before this group's, which a partition has hidden: what we have sent to the rank
  // since then was for that one, and is lost with it.
  if (!lost.concerns(mail_.rank_in_life(rank)))
    return break_up({Code::aborted, fmt::format("messages of {} to {} may be lost: {}", who(),
                                                mail_.name_of(rank), lost.reason.message)});
  if (suspects_.contains(rank)) return;
  Suspect& suspect = suspects_[rank];
  suspect.why.code = Code::unavailable;
  suspect.why.message = fmt::format("{} is lost: {}", mail_.name_of(rank), lost.reason.message);
  suspect.since = now();
}

// The first one that is lost is the reason: others may have ended because of it. One that has left has
// sent all its parts: what has not come by now does not come any more.
bool RankGroup::judge_suspects() {
  while (!suspects_.empty()) {
    const auto first =
        std::ranges::min_element(suspects_, {}, [](const auto& entry) { return entry.second.since; });
    const auto& [rank, suspect] = *first;
    if (now() - suspect.since < last_words) return true;
    const bool needed = std::ranges::any_of(names_.all(), [rank = rank](const NamedOperation& named) {
      return !named.idle() && (!named.running() || named.use().operation->needs(rank));
    });
    if (needed || !left_.contains(rank)) {
      break_up(Status(suspect.why));
      return false;
    }
    suspects_.erase(first);
  }
  return false;
}

// The other ranks' next step opens the group anew, as ours does: uses are counted from the beginning.
void RankGroup::give_up(StepId step) {
  bool any = false;
  if (join_reply_ && join_step_ == step) {
    join_reply_ = {};
    any = joined_;
  }
  for (NamedOperation& named : names_.all()) {
    if (!named.idle() && named.use().call.step == step) {
      named.use().call.reply = {};
      any = true;
    }
    if (named.next && named.next->step == step) {
      named.next.reset();
      any = true;
    }
  }
  std::erase_if(waiting_, [&](const GroupCall& call) { return call.step == step; });
  if (any) break_up({Code::aborted, fmt::format("{} has given up its step", who())});
}

void RankGroup::close() {
  const Status closed{Code::cancelled, fmt::format("{} has closed the group '{}'", who(), name_)};
  if (!idle()) return break_up(closed);
  if (!broken_.ok()) return;
  const Left left{mail_.rank(), round_, names_.used()};
  // One that has left drops what comes.
  for (int rank = 0; is_open() && rank < mail_.size(); ++rank)
    if (rank != mail_.rank() && !left_.contains(rank)) mail_.to(rank, left);
  end_with(closed);
}

// Its parts of what it has entered have been sent, and may still come.
void RankGroup::on_left(const Left& message) {
  if (message.round <= round_) never_joins_.insert(message.rank);
  give_up_join();
  auto& entered = left_[message.rank];
  for (const auto& of : message.entered) entered[of.name] = of.use;
  for (NamedOperation& named : names_.all()) {
    const auto left = named.idle() ? std::nullopt : left_before(named.of());
    if (left) finish(named, {*left});
  }
}

// Why the use cannot be made any more, if a rank has left before it.
std::optional<Status> RankGroup::left_before(const UseOf& use) const {
  for (const auto& [rank, entered] : left_) {
    const auto last = entered.find(use.name);
    if (last != entered.end() && last->second >= use.use) continue;
    return Status{Code::failed_precondition,
                  fmt::format("{} has left the group '{}', and takes no part in '{}'",
                              mail_.name_of(rank), name_, use.name)};
  }
  return {};
}

}  // namespace actorflow
