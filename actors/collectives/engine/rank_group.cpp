#include "actors/collectives/engine/rank_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "actors/collectives/operation/shared_sum.h"
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
  NamedOperation& named = operation(call.name);
  if (named.idle()) {
    enter(named, std::move(call), false);
  } else if (named.use().of_zeros && !named.next) {
    named.next = std::move(call);
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

void RankGroup::enter(NamedOperation& named, GroupCall call, bool of_zeros) {
  auto fails = named.count_use();
  if (!fails) fails = left_before(named.of());
  if (fails) return answer(call, {std::move(*fails)});
  named.announce(std::move(call), of_zeros, now());
  ++in_flight_;
  if (!of_zeros) try {
      check(named.use().call, mail_.size());
    } catch (const Error& error) {
      return fail(named, error.status());
    }
  const std::uint64_t number = named.used();
  const bool is_agreed = named.is_agreed();
  if (!of_zeros) wake_joined(named, joined_ranks_[round_]);
  if (!named.in_flight(number)) return;  // those that have joined cannot take part in it
  is_agreed ? begin(named) : propose(named);
}

void RankGroup::propose(const NamedOperation& named) {
  const NamedOperation::Use& use = named.use();
  if (use.of_zeros) return;
  mail_.to_leader(Propose{named.of(), mail_.rank(), use.call.call, would_show(use.call)});
}

void RankGroup::begin(NamedOperation& named) {
  try {
    named.begin(mail_);
    enter_board(named);
  } catch (...) {
    return fail(named, current_exception_status());
  }
  advance(named);
}

void RankGroup::advance(NamedOperation& named) {
  Operation& operation = *named.use().operation;
  auto& on_board = named.on_board;
  const auto send = [&](int rank, std::uint32_t number, std::vector<std::int64_t> rows, Tensor payload) {
    if (on_board.to_look && on_board.board->show(rank, payload)) return;
    if (on_board.to_look) on_board.woken_in = named.used();
    mail_.to(rank, Part{named.of(), named.version(), mail_.rank(), number, std::move(rows)},
             std::move(payload));
  };
  CollectiveResult result;
  try {
    bool done = operation.advance(send);
    if (!done && std::exchange(on_board.to_look, false)) {
      if (look_at_board(named) && on_board.board->shares_sums())
        done = operation.advance(send, std::bind_front(reduce_together, std::ref(*on_board.board)));
      else
        done = operation.advance(send);
    }
    if (!done) return;
    result = operation.take_result();
  } catch (...) {
    return fail(named, current_exception_status());
  }
  finish(named, std::move(result));
}

// Tells the others, who would wait for us.
void RankGroup::fail(NamedOperation& named, const Status& why) {
  const Status ours{why.code, fmt::format("{}: {}", who(), why.message)};
  mail_.to_others(Failed{named.of(), ours});
  if (negotiator_) negotiator_->failed(named.of());
  finish(named, {ours});
}

void RankGroup::finish(NamedOperation& named, CollectiveResult result) {
  const GroupCall call = named.end();
  if (named.on_board.board) named.on_board.board->leave();
  --in_flight_;
  if (result.status.ok()) note_done(named, call.call.kind);
  answer(call, std::move(result));
  if (named.next) enter(named, *std::exchange(named.next, {}), false);
  wake_up(named);
  try_to_join();
  end_join();
}

void RankGroup::note_done(const NamedOperation& named, CollectiveKind kind) {
  last_kind_ = kind;
  last_name_ = named.name();
  last_time_ = now();
}

void RankGroup::on_part(const Part& part, const Tensor& payload) {
  NamedOperation& named = operation(part.of.name);
  if (named.take(part, payload)) advance(named);
}

void RankGroup::on_propose(const Propose& message) {
  if (negotiator_) negotiator_->propose(message);
}

void RankGroup::on_broken(const Broken& message) { break_up(message.why); }

void RankGroup::on_revise(const Revise& message) {
  NamedOperation& named = operation(message.of.name);
  if (named.revise(message)) propose(named);
}

void RankGroup::on_agreed(const Agreed& message) {
  NamedOperation& named = operation(message.of.name);
  if (!named.agree(message)) return;
  if (named.in_flight(message.of.use)) return begin(named);
  if (joined_ && named.used() < message.of.use) named.wake = Wake{message.of, message.version, round_};
  wake_up(named);
}

void RankGroup::on_failed(const Failed& message) {
  if (negotiator_) negotiator_->failed(message.of);
  NamedOperation& named = operation(message.of.name);
  if (named.fail(message.of, message.why)) finish(named, {message.why});
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
