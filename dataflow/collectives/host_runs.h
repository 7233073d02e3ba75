// Which ranks share a host, for the choice of algorithms.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace actorflow {

struct HostRuns {
  // How many ranks follow each other on one host, in the order of ranks: of a b b a 1, 2, 1.
  std::vector<int> runs;
  int ranks = 0;
  int hosts = 0;
  int largest = 0;  // the ranks of the host that has the most

  int longest() const { return *std::ranges::max_element(runs); }
  // Whether the ranks of each host follow each other.
  bool contiguous() const { return static_cast<int>(runs.size()) == hosts; }
};

HostRuns host_runs(const std::vector<std::string>& host_of_rank);

}  // namespace actorflow
