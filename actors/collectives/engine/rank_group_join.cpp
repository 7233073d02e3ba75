// Ranks of a group that have no more data.
#include <utility>

#include "actors/collectives/engine/rank_group.h"

namespace actorflow {

using namespace rank_messages;

bool RankGroup::takes_zeros(const CollectiveCall& call) const {
  return call.kind == CollectiveKind::all_reduce &&
         (call.reduction == ReduceOp::sum || call.reduction == ReduceOp::average);
}

// What they cannot take part in fails.
void RankGroup::wake_joined(NamedOperation& named, const std::set<int>& ranks) {
  const NamedOperation::Use& use = named.use();
  if (ranks.empty() || use.of_zeros) return;
  if (!takes_zeros(use.call.call))
    return fail(named, {Code::invalid_argument,
                        mail_.name_of(*ranks.begin()) +
                            " has no more data, which only sums and averages can do without"});
  for (const int rank : ranks) mail_.to(rank, Wake{named.of(), named.version(), round_});
}

void RankGroup::join(std::function<void(Status, int last)> reply, StepId step) {
  if (!broken_.ok()) return reply(broken_, 0);
  if (join_reply_) return reply({Code::failed_precondition, who() + " is joining already"}, 0);
  join_reply_ = std::move(reply);
  join_step_ = step;
  try_to_join();
  give_up_join();
}

void RankGroup::give_up_join() {
  if (never_joins_.empty() || last_joined_) return;
  joined_ = false;
  const std::string who_left = mail_.name_of(*never_joins_.begin());
  if (const auto reply = std::exchange(join_reply_, {}))
    reply({Code::failed_precondition, who_left + " has left the group, and never joins"}, 0);
}

// Not before its own operations are done, for which it may be needed otherwise.
void RankGroup::try_to_join() {
  if (!is_open() || !join_reply_ || joined_ || last_joined_ || in_flight_ > 0 || !broken_.ok()) return;
  joined_ = true;
  joined_since_ = now();
  mail_.to_all(Joined{mail_.rank(), round_});
}

void RankGroup::on_joined(const Joined& message) {
  if (message.round < round_) return;
  if (negotiator_ && negotiator_->join(message.rank, message.round))
    mail_.to_all(AllJoined{message.rank, message.round});
  if (!joined_ranks_[message.round].insert(message.rank).second || message.round != round_) return;
  for (NamedOperation& named : names_.all())
    if (!named.idle()) wake_joined(named, {message.rank});
}

void RankGroup::on_all_joined(const AllJoined& message) {
  if (message.round != round_) return;
  joined_ranks_.erase(round_++);
  joined_ = false;
  last_joined_ = message.last;
  end_join();
}

void RankGroup::on_wake(const Wake& message) {
  NamedOperation& named = operation(message.of.name);
  if (message.round != round_ || message.of.use <= named.used()) return;
  named.wake = message;
  wake_up(named);
}

// Once the use before is done, and what was agreed on is known.
void RankGroup::wake_up(NamedOperation& named) {
  if (!joined_ || !named.wake || !named.idle() || named.wake->round != round_) return;
  const auto& agreed = named.agreed();
  if (named.wake->of.use != named.used() + 1 || !agreed || agreed->version < named.wake->version) return;
  if (!takes_zeros(agreed->call)) return;  // whoever woke us has failed
  named.wake.reset();
  enter(named, {.name = named.name(), .call = agreed->call, .own = {}, .reply = {}}, true);
}

// The others may go on while our last operation of zeros still waits for their results.
void RankGroup::end_join() {
  if (!last_joined_ || in_flight_ > 0) return;
  const int last = *std::exchange(last_joined_, {});
  if (const auto reply = std::exchange(join_reply_, {})) reply({}, last);
}

}  // namespace actorflow
