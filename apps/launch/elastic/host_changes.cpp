#include "apps/launch/elastic/host_changes.h"

#include <algorithm>
#include <map>
#include <set>

namespace actorflow {

HostChanges host_changes(const std::vector<SlotHolder>& holders, const std::vector<LaunchHost>& hosts,
                         int most) {
  std::map<std::string, int> free;
  for (const auto& host : hosts) free[host.name] = host.slots;
  HostChanges changes;
  std::set<std::string> deadly;
  int tasks = 0;
  for (const auto& holder : holders) {
    const bool stays = free[holder.host]-- > 0;
    tasks += stays && holder.runs;
    if (!stays) changes.end.push_back(holder.task);
    if (stays && !holder.runs) deadly.insert(holder.host);
  }
  for (const auto& host : hosts)
    for (; free[host.name] > 0 && tasks < most && !deadly.contains(host.name);
         --free[host.name], ++tasks)
      changes.starts.push_back(host.name);
  return changes;
}

}  // namespace actorflow
