#include "dataflow/collectives/host_runs.h"

#include <map>

namespace actorflow {

HostRuns host_runs(const std::vector<std::string>& host_of_rank) {
  HostRuns all;
  std::map<std::string, int> ranks;  // by host
  const std::string* before = nullptr;
  for (const auto& host : host_of_rank) {
    if (!before || host != *before) all.runs.push_back(0);
    ++all.runs.back();
    all.largest = std::max(all.largest, ++ranks[host]);
    before = &host;
  }
  all.ranks = static_cast<int>(host_of_rank.size());
  all.hosts = static_cast<int>(ranks.size());
  return all;
}

}  // namespace actorflow
