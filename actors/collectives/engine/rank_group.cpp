#include "actors/collectives/engine/rank_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "actors/collectives/engine/shared_sum.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {

using namespace rank_messages;

RankGroup::RankGroup(RankMail mail, std::string name, const PlanOptions& options)
    : mail_(std::move(mail)), name_(std::move(name)), options_(options) {
  if (mail_.leads()) negotiator_.emplace(mail_, options);
}

// The other algorithms are the same by any costs.
bool RankGroup::needs_costs() const {
  using enum Algorithm;
  const bool chooses = options_.algorithm == automatic || options_.algorithm == ring ||
                       options_.algorithm == hierarchical;
  return mail_.leads() && mail_.size() > 1 && chooses && !options_.costs;
}

void RankGroup::open(std::uint64_t life, std::vector<std::uint64_t> incarnations,
                     const CostModel& costs) {
  mail_.begin_life(life, std::move(incarnations));
  if (negotiator_) negotiator_->use(costs);
  for (auto& call : std::exchange(waiting_, {})) this->call(std::move(call));
  try_to_join();
}

void RankGroup::call(GroupCall call) {
  if (!broken_.ok()) return answer(call, {broken_});
  describe(call);
  if (!is_open()) return waiting_.push_back(std::move(call));
  NamedOperation& name = operation(call.name);
  if (name.idle()) {
    enter(name, std::move(call), false);
  } else if (name.use().of_zeros && !name.next) {
    name.next = std::move(call);
  } else {
    const std::string what =
        fmt::format("{}: '{}' is in flight already; wait for it, or use another name", who(), call.name);
    answer(call, {{Code::failed_precondition, what}});
  }
}

NamedOperation& RankGroup::operation(const std::string& name) {
  if (NamedOperation* const known = names_.find(name)) return *known;
  if (names_.are_many())
    for (NamedOperation* const unused : names_.unused()) {
      drop_board(*unused);
      names_.forget(*unused);
    }
  return names_.add(name);
}

void RankGroup::enter(NamedOperation& name, GroupCall call, bool of_zeros) {
  auto fails = name.count_use();
  if (!fails) fails = left_before(name.of());
  if (fails) return answer(call, {std::move(*fails)});
  name.announce(std::move(call), of_zeros, now());
  ++in_flight_;
  if (!of_zeros) try {
      check(name.use().call, mail_.size());
    } catch (const Error& error) {
      return fail(name, error.status());
    }
  const bool is_agreed = name.is_agreed();
  if (!of_zeros) wake_joined(name, joined_ranks_[round_]);
  if (name.idle()) return;
  is_agreed ? begin(name) : propose(name);
}

void RankGroup::propose(const NamedOperation& name) {
  const NamedOperation::Use& use = name.use();
  if (use.of_zeros) return;
  const bool would_look = use.call.waits && has_memory_for_page(use.call.call);
  mail_.to_leader(Propose{name.of(), mail_.rank(), use.call.call, would_look});
}

void RankGroup::begin(NamedOperation& name) {
  try {
    name.begin(mail_);
    enter_board(name);
  } catch (...) {
    return fail(name, current_exception_status());
  }
  advance(name);
}

void RankGroup::advance(NamedOperation& name) {
  Operation& operation = *name.use().operation;
  auto& on_board = name.on_board;
  const auto send = [&](int rank, std::uint32_t number, std::vector<std::int64_t> rows, Tensor payload) {
    if (on_board.to_look && on_board.board->show(rank, payload)) return;
    if (on_board.to_look) on_board.woken_in = name.used();
    mail_.to(rank, Part{name.of(), name.version(), mail_.rank(), number, std::move(rows)},
             std::move(payload));
  };
  CollectiveResult result;
  try {
    bool done = operation.advance(send);
    if (!done && std::exchange(on_board.to_look, false)) {
      if (look_at_board(name) && on_board.board->shares_sums())
        done = operation.advance(send, std::bind_front(reduce_together, std::ref(*on_board.board)));
      else
        done = operation.advance(send);
    }
    if (!done) return;
    result = operation.take_result();
  } catch (...) {
    return fail(name, current_exception_status());
  }
  finish(name, std::move(result));
}

// Tells the others, who would wait for us.
void RankGroup::fail(NamedOperation& name, const Status& why) {
  const Status named{why.code, fmt::format("{}: {}", who(), why.message)};
  mail_.to_others(Failed{name.of(), named});
  if (negotiator_) negotiator_->failed(name.of());
  finish(name, {named});
}

void RankGroup::finish(NamedOperation& name, CollectiveResult result) {
  const GroupCall call = name.end();
  --in_flight_;
  if (result.status.ok()) note_done(name, call.call.kind);
  answer(call, std::move(result));
  if (name.next) enter(name, *std::exchange(name.next, {}), false);
  wake_up(name);
  try_to_join();
  end_join();
}

void RankGroup::note_done(const NamedOperation& name, CollectiveKind kind) {
  last_kind_ = kind;
  last_name_ = name.name();
  last_time_ = now();
}

void RankGroup::on_part(const Part& part, const Tensor& payload) {
  NamedOperation& name = operation(part.of.name);
  if (name.take(part, payload)) advance(name);
}

void RankGroup::on_propose(const Propose& message) {
  if (negotiator_) negotiator_->propose(message);
}

void RankGroup::on_broken(const Broken& message) { break_up(message.why); }

void RankGroup::on_revise(const Revise& message) {
  NamedOperation& name = operation(message.of.name);
  if (name.revise(message)) propose(name);
}

void RankGroup::on_agreed(const Agreed& message) {
  NamedOperation& name = operation(message.of.name);
  if (!name.agree(message)) return;
  if (name.in_flight(message.of.use)) return begin(name);
  if (joined_ && name.used() < message.of.use) name.wake = Wake{message.of, message.version, round_};
  wake_up(name);
}

void RankGroup::on_failed(const Failed& message) {
  if (negotiator_) negotiator_->failed(message.of);
  NamedOperation& name = operation(message.of.name);
  if (name.fail(message.of, message.why)) finish(name, {message.why});
}

void RankGroup::take(const Sender& from, const ActorMessage& message) {
  const int rank = mail_.rank_of(from.task);
  if (rank < 0 || !broken_.ok()) return;
  // Without another's page, what it brings travels.
  if (!message.status.ok() && message.type == message_type<Page>()) return;
  // The link could not carry it: nobody can say which operation would wait for it.
  if (!message.status.ok())
    return break_up(
        {message.status.code, fmt::format("a message of {} to {} was lost: {}", mail_.name_of(rank),
                                          who(), message.status.message)});
  take_letter(rank, message);
}

void RankGroup::take_letter(int sender, const ActorMessage& letter) {
  const auto took = [&]<class M>(void (RankGroup::*on)(const M&)) {
    return take_if<M>(letter, [&](const M& message) {
      mail_.expect_from(sender, message);
      (this->*on)(message);
    });
  };
  const auto took_with_payload = [&]<class M>(void (RankGroup::*on)(const M&, const Tensor&)) {
    return take_if<M>(letter, [&](const M& message) {
      mail_.expect_from(sender, message);
      (this->*on)(message, letter.payload);
    });
  };
  took_with_payload(&RankGroup::on_part) || took_with_payload(&RankGroup::on_page) ||
      took(&RankGroup::on_propose) || took(&RankGroup::on_revise) || took(&RankGroup::on_agreed) ||
      took(&RankGroup::on_failed) || took(&RankGroup::on_joined) || took(&RankGroup::on_all_joined) ||
      took(&RankGroup::on_wake) || took(&RankGroup::on_inquire) || took(&RankGroup::on_standing) ||
      took(&RankGroup::on_left) || took(&RankGroup::on_ask_waits) || took(&RankGroup::on_survey) ||
      took(&RankGroup::on_account) || took(&RankGroup::on_waits) || took(&RankGroup::on_broken);
}

}  // namespace actorflow
