// Ranks: which process of a list of hosts has which numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

struct HostSlots {
  std::string host;
  int slots = 1;

  bool operator==(const HostSlots&) const = default;
};

// The hosts of "a:1,b:2"; without a number a host has one slot. An IPv6 address stands in brackets.
// Throws invalid_argument that names the wrong part.
std::vector<HostSlots> parse_host_slots(std::string_view text);

// The numbers of one process. Ranks of a host follow each other. "Cross" counts, over the hosts, the
// processes of the same local rank.
struct RankPlace {
  int rank = 0;
  int local_rank = 0;
  int cross_rank = 0;
  int local_size = 1;
  int cross_size = 1;

  bool operator==(const RankPlace&) const = default;
};

// The places of `processes` ranks, which fill the hosts' slots in their order. Throws invalid_argument
// if there are fewer slots: "Requested more processes (4) than there are available slots (3)".
std::vector<RankPlace> place_ranks(const std::vector<HostSlots>& hosts, int processes);
// The places of ranks that run on these hosts, by rank; those of a host need not follow each other.
std::vector<RankPlace> places_of(const std::vector<std::string>& host_of_rank);

}  // namespace actorflow
