// The leader's side of agreements: what the ranks propose for each use of a name, and what is agreed on.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/collectives/engine/rank_mail.h"
#include "dataflow/collectives/cost.h"

namespace actorflow {

struct PlanOptions {
  Algorithm algorithm = Algorithm::automatic;
  std::optional<CostModel> costs{};  // none: they are measured when the group opens
  // How long this rank polls the boards of others (board.h) before it sleeps; 0: it uses no boards.
  std::chrono::microseconds spin{};
};

// The bytes of a rank's contribution; 0 for a call without a dtype.
std::int64_t contribution_bytes(const CollectiveCall& call);

// Whether ranks that send each other all that they bring may show it on boards instead.
bool may_be_shown(const CollectiveCall& call, const RankMail& mail, const PlanOptions& options);
// Of a rank's pages in a group, which last as long as their names.
inline constexpr std::size_t most_page_bytes = std::size_t{64} << 20;

// Belongs to the leader's group. Ranks agree once per name. When one of them proposes something for a
// use of a name that they have agreed on, all propose.
class Negotiator {
 public:
  Negotiator(const RankMail& mail, const PlanOptions& options);

  // The costs by which algorithms are chosen from now on.
  void use(const CostModel& costs) { costs_ = costs; }
  void propose(const rank_messages::Propose& message);
  // This use has failed elsewhere: nothing is to be agreed on for it.
  void failed(const rank_messages::UseOf& of);
  // A rank takes part with zeros in what the others propose, until all have joined. Returns true once
  // they have.
  bool join(int rank, std::uint32_t round);
  std::uint32_t round() const { return round_; }

 private:
  // For a use on which the ranks do not agree yet.
  struct Proposals {
    std::uint64_t use = 0;
    std::map<int, CollectiveCall> calls{};  // by rank
    bool all_look = true;                   // those that call
  };
  // What stays of a name is small: a program may make new ones for ever (operation_names.h).
  struct Name {
    std::uint64_t decided = 0;               // the newest use that was agreed on, or has failed
    std::uint32_t version = 0;               // of the newest agreement; 0: there was none
    std::size_t page_bytes = 0;              // of each rank, on the name's board
    std::unique_ptr<Proposals> proposals{};  // for a use that comes after
  };
  void look_at(const std::string& name, Name& entry);
  std::optional<std::string> objection(const Proposals& proposals) const;
  void agree(const std::string& name, Name& entry);
  AllReducePlan plan_of(const CollectiveCall& call, bool is_shown) const;
  bool has_board(const CollectiveCall& call) const;
  void refuse(const std::string& name, Name& entry, const std::string& why);

  const RankMail& mail_;
  const PlanOptions options_;
  CostModel costs_{};
  const HostRuns hosts_;
  std::map<std::string, Name, std::less<>> names_;
  std::size_t page_bytes_ = 0;  // of all names
  std::set<int> joined_;
  std::uint32_t round_ = 1;
};

}  // namespace actorflow
