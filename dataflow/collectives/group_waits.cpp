#include "dataflow/collectives/group_waits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

using Waited = GroupWaits::Operation;

constexpr std::string_view of_the_silent = "it does not answer";

std::uint64_t newest_use(const RankAccount& account, const std::string& name) {
  const auto found = std::ranges::find(account.used, name, &RankAccount::Used::name);
  return found == account.used.end() ? 0 : found->use;
}

// By name and use.
using Operations = std::map<std::pair<std::string, std::uint64_t>, Waited>;

void add_waiting(Operations& operations, std::int32_t rank, const RankAccount& account) {
  for (const auto& own : account.in_flight) {
    Waited& operation = operations[{own.name, own.use}];
    operation.name = own.name;
    operation.call = own.call;
    operation.seconds = std::max(operation.seconds, own.seconds);
    operation.waiting.push_back(rank);
  }
}

// A rank that has joined takes part with zeros by itself.
void add_missing(Operations& operations, std::int32_t rank, const RankAccount& account) {
  if (account.joined_for) return;
  for (auto& [of, operation] : operations)
    if (newest_use(account, of.first) < of.second) operation.missing.push_back(rank);
}

std::optional<Waited> join_of(const std::vector<std::optional<RankAccount>>& accounts) {
  Waited join{.name = "join", .call = "join", .waiting = {}, .missing = {}};
  for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
    if (!accounts[rank]) continue;
    const auto& joined_for = accounts[rank]->joined_for;
    (joined_for ? join.waiting : join.missing).push_back(static_cast<std::int32_t>(rank));
    join.seconds = std::max(join.seconds, joined_for.value_or(0));
  }
  return join.waiting.empty() ? std::nullopt : std::optional(std::move(join));
}

bool is_silent(const std::string& last) { return last == of_the_silent; }

std::string tenths(double seconds) {
  const auto count = std::llround(seconds * 10);
  return std::to_string(count / 10) + "." + std::to_string(count % 10);
}

}  // namespace

GroupWaits waits_of(std::vector<std::string> ranks,
                    const std::vector<std::optional<RankAccount>>& accounts) {
  Operations operations;
  GroupWaits waits{.operations = {}, .ranks = std::move(ranks), .last = {}};
  for (std::size_t rank = 0; rank < accounts.size(); ++rank) {
    if (accounts[rank]) add_waiting(operations, static_cast<std::int32_t>(rank), *accounts[rank]);
    waits.last.push_back(accounts[rank] ? accounts[rank]->last : std::string(of_the_silent));
  }
  for (std::size_t rank = 0; rank < accounts.size(); ++rank)
    if (accounts[rank]) add_missing(operations, static_cast<std::int32_t>(rank), *accounts[rank]);
  for (auto& [of, operation] : operations) waits.operations.push_back(std::move(operation));
  if (auto join = join_of(accounts)) waits.operations.push_back(std::move(*join));
  std::ranges::stable_sort(waits.operations, std::ranges::greater(), &Waited::seconds);
  return waits;
}

std::vector<std::string> lines_of(const GroupWaits& waits) {
  std::vector<std::string> lines;
  const auto name_of = [&](std::int32_t rank) { return waits.ranks.at(static_cast<std::size_t>(rank)); };
  const auto last_of = [&](std::int32_t rank) {
    return name_of(rank) + ": " + waits.last.at(static_cast<std::size_t>(rank));
  };
  for (const auto& operation : waits.operations) {
    std::vector<std::string> waiting;
    for (const auto rank : operation.waiting) waiting.push_back(name_of(rank));
    lines.push_back(operation.call + " '" + operation.name + "' has waited for " +
                    tenths(operation.seconds) + " s on " + joined(waiting, ", "));
    for (const auto rank : operation.missing) lines.push_back("  for " + last_of(rank));
    if (!operation.missing.empty()) continue;
    lines.emplace_back(std::ranges::any_of(waits.last, is_silent)
                           ? "  for ranks that do not answer, or messages that are under way"
                           : "  for messages that are under way");
  }
  if (lines.empty()) lines.emplace_back("no rank waits");
  for (std::size_t rank = 0; rank < waits.last.size(); ++rank)
    if (is_silent(waits.last[rank])) lines.push_back(last_of(static_cast<std::int32_t>(rank)));
  return lines;
}

}  // namespace actorflow
