// Who waits for whom in a group of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace actorflow {

// The operations of a group that are in flight, and what each rank did last.
struct GroupWaits {
  struct Operation {
    std::string name;
    std::string call;                            // "all_reduce float32[3] sum"; a join is one, too
    double seconds = 0;                          // for which the rank that began first has waited
    std::vector<std::int32_t> waiting, missing;  // ranks that have called it, and that have not

    bool operator==(const Operation&) const = default;
  };
  std::vector<Operation> operations;  // that which has waited longest first
  std::vector<std::string> ranks;     // "rank 2 (/job:worker/task:2)"
  // What each rank has finished last and when; "it does not answer" of one that is silent.
  std::vector<std::string> last;

  bool operator==(const GroupWaits&) const = default;
};
// A line for each operation in flight and each of its missing ranks, or one that says that nobody waits.
std::vector<std::string> lines_of(const GroupWaits& waits);

// What one rank knows of itself.
struct RankAccount {
  struct InFlight {
    std::string name;
    std::uint64_t use = 0;  // the number of this use of the name, from 1 on
    std::string call;
    double seconds = 0;
  };
  struct Used {
    std::string name;
    std::uint64_t use = 0;  // the newest that it has entered
  };
  std::vector<InFlight> in_flight;
  std::vector<Used> used;
  std::optional<double> joined_for;  // seconds; it has no more data
  std::string last;
};

// `accounts`: of each rank; none of those that are silent, which nobody can call missing.
GroupWaits waits_of(std::vector<std::string> ranks,
                    const std::vector<std::optional<RankAccount>>& accounts);

}  // namespace actorflow
