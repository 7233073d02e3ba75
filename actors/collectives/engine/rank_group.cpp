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

namespace {

using Kind = CollectiveKind;

void answer(const GroupCall& call, CollectiveResult result) {
  if (call.reply) call.reply(std::move(result));
}

// Throws invalid_argument for a call that no rank can make.
void check(const GroupCall& call, int ranks) {
  check_call(call.call, ranks);
  if (call.call.kind != Kind::all_gather && call.call.kind != Kind::all_to_all) return;
  const Tensor& own = call.own.tensor;
  if (own.shape().rank() == 0) throw invalid_argument("expected 1 dimension or more, got a scalar");
  if (call.call.kind == Kind::all_gather) return;
  const auto& splits = call.own.splits;
  const bool fits = std::ssize(splits) == ranks && std::ranges::min(splits) >= 0 &&
                    std::accumulate(splits.begin(), splits.end(), std::int64_t{0}) == own.shape()[0];
  if (!fits)
    throw invalid_argument(
        fmt::format("expected a split for each of {} ranks, together {} rows, got [{}]", ranks,
                    own.shape()[0], fmt::join(splits, ",")));
}

}  // namespace

void describe(GroupCall& call) {
  if (call.call.kind == Kind::barrier) return;
  const auto dims = call.own.tensor.shape().dims();
  call.call.dtype = call.own.tensor.dtype();
  const bool rows_vary = call.call.kind == Kind::all_gather || call.call.kind == Kind::all_to_all;
  call.call.dims.assign(dims.begin() + (rows_vary && !dims.empty() ? 1 : 0), dims.end());
}

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
  Entry& entry = *names_.try_emplace(call.name).first;
  Name& name = entry.second;
  if (name.use && name.use->of_zeros && !name.next) {
    name.next = std::move(call);
  } else if (name.use) {
    const std::string what =
        fmt::format("{}: '{}' is in flight already; wait for it, or use another name", who(), call.name);
    answer(call, {{Code::failed_precondition, what}});
  } else {
    enter(entry, std::move(call), false);
  }
}

void RankGroup::enter(Entry& entry, GroupCall call, bool of_zeros) {
  Name& name = entry.second;
  const std::uint64_t number = ++name.used;
  name.failed.erase(name.failed.begin(), name.failed.lower_bound(number));
  if (const auto failed = name.failed.extract(number)) return answer(call, {failed.mapped()});
  if (auto left = left_before(entry.first, number)) return answer(call, {std::move(*left)});
  Use& use = name.use.emplace();
  use.number = number;
  use.call = std::move(call);
  use.of_zeros = of_zeros;
  use.since = now();
  ++in_flight_;
  if (!of_zeros) try {
      check(use.call, mail_.size());
    } catch (const Error& error) {
      return fail(entry, error.status());
    }
  const bool known =
      name.agreed && name.agreed->call == name.use->call.call && name.propose_at != number;
  if (!of_zeros) wake_joined(entry, joined_ranks_[round_]);
  if (!name.use) return;
  if (known)
    begin(entry);
  else
    propose(entry);
}

void RankGroup::propose(const Entry& entry) {
  const Use& use = *entry.second.use;
  if (use.of_zeros) return;
  const bool would_look = use.call.waits && has_memory_for_page(use.call.call);
  mail_.to_leader(Propose{{entry.first, use.number}, mail_.rank(), use.call.call, would_look});
}

// REQUIRES: agreed on.
void RankGroup::begin(Entry& entry) {
  Name& name = entry.second;
  Use& use = *name.use;
  const Agreed& agreed = *name.agreed;
  try {
    const SchedulePlan plan{agreed.call.kind, mail_.size(),  agreed.call.root,
                            agreed.algorithm, agreed.chunks, agreed.hosts};
    check_plan(plan);
    use.call.call = agreed.call;
    if (use.of_zeros)
      use.call.own.tensor = Tensor::zeros(agreed.call.dtype, Shape(std::span(agreed.call.dims)));
    use.operation =
        std::make_unique<Operation>(mail_.task(), plan, mail_.rank(), agreed.call, use.call.own);
    enter_board(entry);
    for (const auto& [part, payload] : name.early)
      if (part.of.use == use.number && part.version == agreed.version)
        use.operation->receive(part.from, part.number, part.rows, payload);
    // A part for this use by a newer agreement comes before that.
    std::erase_if(name.early, [&](const auto& early) {
      return std::pair(early.part.of.use, early.part.version) <= std::pair(use.number, agreed.version);
    });
  } catch (...) {
    return fail(entry, current_exception_status());
  }
  advance(entry);
}

void RankGroup::advance(Entry& entry) {
  Name& name = entry.second;
  Use& use = *name.use;
  const auto send = [&](int rank, std::uint32_t number, std::vector<std::int64_t> rows, Tensor payload) {
    if (use.on_board && name.board->show(rank, payload)) return;
    if (use.on_board) name.woken_in = use.number;
    mail_.to(
        rank,
        Part{{entry.first, use.number}, name.agreed->version, mail_.rank(), number, std::move(rows)},
        std::move(payload));
  };
  CollectiveResult result;
  try {
    bool done = use.operation->advance(send);
    if (!done && std::exchange(use.on_board, false)) {
      if (look_at_board(entry) && name.board->shares_sums())
        done = use.operation->advance(send, std::bind_front(reduce_together, std::ref(*name.board)));
      else
        done = use.operation->advance(send);
    }
    if (!done) return;
    result = use.operation->take_result();
  } catch (...) {
    return fail(entry, current_exception_status());
  }
  finish(entry, std::move(result));
}

// Tells the others, who would wait for us.
void RankGroup::fail(Entry& entry, const Status& why) {
  const UseOf of{entry.first, entry.second.use->number};
  const Status named{why.code, fmt::format("{}: {}", who(), why.message)};
  mail_.to_others(Failed{of, named});
  if (negotiator_) negotiator_->failed(of);
  finish(entry, {named});
}

void RankGroup::finish(Entry& entry, CollectiveResult result) {
  Name& name = entry.second;
  if (result.status.ok()) note_done(entry, name.use->call.call.kind);
  const GroupCall call = std::move(name.use->call);
  name.use.reset();
  --in_flight_;
  answer(call, std::move(result));
  if (name.next) enter(entry, *std::exchange(name.next, {}), false);
  wake_up(entry);
  try_to_join();
  end_join();
}

void RankGroup::note_done(const Entry& entry, CollectiveKind kind) {
  last_kind_ = kind;
  last_name_ = entry.first;
  last_time_ = now();
}

void RankGroup::on_part(const Part& part, const Tensor& payload) {
  Entry& entry = *names_.try_emplace(part.of.name).first;
  Name& name = entry.second;
  const bool this_use = name.use && part.of.use == name.used;
  if (!this_use && part.of.use <= name.used) return;  // it is over
  if (!this_use || !name.use->operation || part.version != name.agreed->version)
    return name.early.push_back({part, payload});
  name.use->operation->receive(part.from, part.number, part.rows, payload);
  advance(entry);
}

void RankGroup::on_propose(const Propose& message) {
  if (negotiator_) negotiator_->propose(message);
}

void RankGroup::on_broken(const Broken& message) { break_up(message.why); }

void RankGroup::on_revise(const Revise& message) {
  Entry& entry = *names_.try_emplace(message.of.name).first;
  Name& name = entry.second;
  if (name.agreed && name.agreed->version > message.version) return;
  if (name.used < message.of.use) name.propose_at = message.of.use;
  if (!name.use || name.use->number != message.of.use || !name.use->operation) return;
  name.use->operation.reset();
  propose(entry);
}

void RankGroup::on_agreed(const Agreed& message) {
  Entry& entry = *names_.try_emplace(message.of.name).first;
  Name& name = entry.second;
  if (name.agreed && name.agreed->version >= message.version) return;
  name.agreed = message;
  if (name.use && name.use->number == message.of.use && !name.use->operation) return begin(entry);
  if (joined_ && name.used < message.of.use) name.wake = Wake{message.of, message.version, round_};
  wake_up(entry);
}

void RankGroup::on_failed(const Failed& message) {
  if (negotiator_) negotiator_->failed(message.of);
  Entry& entry = *names_.try_emplace(message.of.name).first;
  Name& name = entry.second;
  if (name.used < message.of.use) name.failed.try_emplace(message.of.use, message.why);
  if (name.use && name.use->number == message.of.use) finish(entry, {message.why});
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
