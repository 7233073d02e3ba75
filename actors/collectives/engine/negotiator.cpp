#include "actors/collectives/engine/negotiator.h"

#include <fmt/format.h>

#include <algorithm>

namespace actorflow {
namespace {

using namespace rank_messages;

constexpr std::int64_t ring_chunk_bytes = std::int64_t{1} << 20;
constexpr std::int64_t most_ring_chunks = 64;

// A ring's sums travel before they are whole: of 16 bits, each rank would round them again. And a rank
// alone adds nothing in a ring, so that nothing would be scaled.
bool has_no_ring(const CollectiveCall& call, int ranks) { return ranks == 1 || call.rounds_sums(); }

Algorithm algorithm_of(const CollectiveCall& call, int ranks, const PlanOptions& options) {
  const bool is_sum = call.kind == CollectiveKind::all_reduce;
  if (options.algorithm == Algorithm::automatic)
    return is_sum ? choose_all_reduce(ranks, contribution_bytes(call), options.cost)
                  : Algorithm::doubling;
  if (is_sum && options.algorithm == Algorithm::ring && has_no_ring(call, ranks))
    return Algorithm::rabenseifner;
  return !is_sum && options.algorithm == Algorithm::rabenseifner ? Algorithm::doubling
                                                                 : options.algorithm;
}

}  // namespace

std::int64_t contribution_bytes(const CollectiveCall& call) {
  std::int64_t elements = 1;
  for (const auto dim : call.dims) elements *= dim;
  return elements * static_cast<std::int64_t>(call.dtype == DType::invalid ? 0 : call.element_bytes());
}

void Negotiator::propose(const Propose& message) {
  Name& entry = names_[message.of.name];
  if (message.of.use <= entry.decided) return;
  if (message.of.use != entry.use) {
    entry.use = message.of.use;
    entry.calls.clear();
    if (entry.agreed) mail_.to_all(Revise{message.of, entry.version});
  }
  entry.calls.try_emplace(message.rank, message.call);
  look_at(message.of.name, entry);
}

void Negotiator::failed(const UseOf& of) {
  Name& entry = names_[of.name];
  entry.decided = std::max(entry.decided, of.use);
}

void Negotiator::look_at(const std::string& name, Name& entry) {
  if (entry.use <= entry.decided) return;
  if (const auto why = objection(entry)) return refuse(name, entry, *why);
  std::set<int> known = joined_;
  for (const auto& [rank, call] : entry.calls) known.insert(rank);
  if (!entry.calls.empty() && static_cast<int>(known.size()) == mail_.size()) agree(name, entry);
}

std::optional<std::string> Negotiator::objection(const Name& entry) const {
  if (entry.calls.empty()) return {};
  const auto& [first, call] = *entry.calls.begin();
  for (const auto& [rank, other] : entry.calls)
    if (const auto difference = disagreement(call, first, other, rank)) return difference;
  if (joined_.empty()) return {};
  const bool of_zeros = call.kind == CollectiveKind::all_reduce &&
                        (call.reduction == ReduceOp::sum || call.reduction == ReduceOp::average);
  if (of_zeros) return {};
  return fmt::format("{} has no more data, which only sums and averages can do without",
                     mail_.name_of(*joined_.begin()));
}

void Negotiator::agree(const std::string& name, Name& entry) {
  entry.decided = entry.use;
  entry.agreed = entry.calls.begin()->second;
  const std::int64_t bytes = contribution_bytes(*entry.agreed);
  mail_.to_all(Agreed{{name, entry.use},
                      ++entry.version,
                      *entry.agreed,
                      algorithm_of(*entry.agreed, mail_.size(), options_),
                      static_cast<std::int32_t>(
                          std::clamp(bytes / ring_chunk_bytes, std::int64_t{1}, most_ring_chunks))});
  entry.calls.clear();
}

void Negotiator::refuse(const std::string& name, Name& entry, const std::string& why) {
  entry.decided = entry.use;
  entry.calls.clear();
  mail_.to_all(Failed{{name, entry.use}, {Code::invalid_argument, fmt::format("'{}': {}", name, why)}});
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
