#include "actors/collectives/engine/negotiator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/collectives/operation/board.h"

namespace actorflow {
namespace {

using namespace rank_messages;

Algorithm algorithm_of_gather(Algorithm asked_for) {
  const bool has_it = asked_for == Algorithm::direct || asked_for == Algorithm::ring;
  return has_it ? asked_for : Algorithm::doubling;
}

AllReducePlan by_messages(const CollectiveCall& call, const HostRuns& hosts, Algorithm algorithm,
                          const CostModel& costs) {
  if (call.kind != CollectiveKind::all_reduce) return {algorithm_of_gather(algorithm)};
  const std::int64_t bytes = contribution_bytes(call);
  const double sum_growth =
      static_cast<double>(unfinished_bytes(call)) / static_cast<double>(call.element_bytes());
  if (algorithm == Algorithm::automatic) return choose_all_reduce(hosts, bytes, costs, sum_growth);
  // A rank alone passes nothing on, and would not apply the factors.
  const bool chain = algorithm == Algorithm::ring || algorithm == Algorithm::hierarchical;
  if (chain && hosts.ranks == 1) return {Algorithm::rabenseifner};
  return plan_all_reduce(algorithm, hosts, bytes, costs, sum_growth);
}

}  // namespace

std::int64_t contribution_bytes(const CollectiveCall& call) {
  std::int64_t elements = 1;
  for (const auto dim : call.dims) elements *= dim;
  return elements * static_cast<std::int64_t>(call.dtype == DType::invalid ? 0 : call.element_bytes());
}

bool may_be_shown(const CollectiveCall& call, const RankMail& mail, const PlanOptions& options) {
  if (options.spin.count() == 0 || call.kind != CollectiveKind::all_reduce) return false;
  return Board::takes(mail.size(), contribution_bytes(call)) && mail.shares_memory();
}

Negotiator::Negotiator(const RankMail& mail, const PlanOptions& options)
    : mail_(mail), options_(options), hosts_(host_runs(mail.hosts())) {}

void Negotiator::propose(const Propose& message) {
  Name& entry = names_[message.of.name];
  if (message.of.use <= entry.decided) return;
  if (!entry.proposals || message.of.use != entry.proposals->use) {
    entry.proposals = std::make_unique<Proposals>(Proposals{message.of.use});
    if (entry.version != 0) mail_.to_all(Revise{message.of, entry.version});
  }
  entry.proposals->calls.try_emplace(message.rank, message.call);
  entry.proposals->all_look &= message.would_look;
  look_at(message.of.name, entry);
}

void Negotiator::failed(const UseOf& of) {
  Name& entry = names_[of.name];
  entry.decided = std::max(entry.decided, of.use);
  if (entry.proposals && entry.proposals->use <= entry.decided) entry.proposals.reset();
}

void Negotiator::look_at(const std::string& name, Name& entry) {
  if (!entry.proposals) return;
  if (const auto why = objection(*entry.proposals)) return refuse(name, entry, *why);
  std::set<int> known = joined_;
  for (const auto& [rank, call] : entry.proposals->calls) known.insert(rank);
  if (static_cast<int>(known.size()) == mail_.size()) agree(name, entry);
}

std::optional<std::string> Negotiator::objection(const Proposals& proposals) const {
  const auto& [first, call] = *proposals.calls.begin();
  for (const auto& [rank, other] : proposals.calls)
    if (const auto difference = disagreement(call, first, other, rank)) return difference;
  if (joined_.empty()) return {};
  const bool of_zeros = call.kind == CollectiveKind::all_reduce &&
                        (call.reduction == ReduceOp::sum || call.reduction == ReduceOp::average);
  if (of_zeros) return {};
  return fmt::format("{} has no more data, which only sums and averages can do without",
                     mail_.name_of(*joined_.begin()));
}

// Whether the ranks make a board for what they agree on, if everybody sends all to everybody.
bool Negotiator::has_board(const CollectiveCall& call) const {
  return may_be_shown(call, mail_, options_) &&
         page_bytes_ + Board::page_bytes(mail_.size(), contribution_bytes(call)) <= most_page_bytes;
}

// Showing is faster than any message to ranks that look. A rank that does not, or has no memory for it,
// gets messages from all: these are planned by what they cost.
AllReducePlan Negotiator::plan_of(const CollectiveCall& call, bool is_shown) const {
  if (options_.algorithm == Algorithm::automatic && is_shown) return {Algorithm::direct};
  return by_messages(call, hosts_, options_.algorithm, costs_);
}

void Negotiator::agree(const std::string& name, Name& entry) {
  const auto proposals = std::exchange(entry.proposals, nullptr);
  const CollectiveCall& call = proposals->calls.begin()->second;
  entry.decided = proposals->use;
  page_bytes_ -= std::exchange(entry.page_bytes, 0);
  const bool has_board = this->has_board(call);
  const AllReducePlan plan = plan_of(call, has_board && proposals->all_look);
  if (plan.algorithm == Algorithm::direct && has_board)
    page_bytes_ += entry.page_bytes = Board::page_bytes(mail_.size(), contribution_bytes(call));
  Agreed agreed{{name, entry.decided}, ++entry.version, call, plan.algorithm, plan.chunks};
  if (plan.algorithm == Algorithm::hierarchical) agreed.hosts = hosts_.runs;
  mail_.to_all(agreed);
}

void Negotiator::refuse(const std::string& name, Name& entry, const std::string& why) {
  entry.decided = entry.proposals->use;
  entry.proposals.reset();
  mail_.to_all(
      Failed{{name, entry.decided}, {Code::invalid_argument, fmt::format("'{}': {}", name, why)}});
}

bool Negotiator::join(int rank, std::uint32_t round) {
  if (round != round_ || !joined_.insert(rank).second) return false;
  for (auto& [name, entry] : names_) look_at(name, entry);
  if (static_cast<int>(joined_.size()) < mail_.size()) return false;
  joined_.clear();
  ++round_;
  return true;
}

}  // namespace actorflow
