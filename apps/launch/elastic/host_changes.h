// What a new list of hosts means for the tasks of an elastic job.
#pragma once

#include <string>
#include <vector>

#include "apps/launch/job_spec.h"

namespace actorflow {

// A task that has a slot of a host. A task that has died keeps its slot, and its host gets no new tasks,
// which might die again and again; another host may get one instead.
struct SlotHolder {
  int task = 0;
  std::string host;
  bool runs = true;  // or is about to
};

struct HostChanges {
  std::vector<int> end;             // tasks whose host, or slot, is gone: the last ones of each host
  std::vector<std::string> starts;  // a host's name for each new task
};

// `most`: tasks of the job that run.
HostChanges host_changes(const std::vector<SlotHolder>& holders, const std::vector<LaunchHost>& hosts,
                         int most);

}  // namespace actorflow
