// The credentials of a job's tasks, for mutual TLS between them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/launch/keeper/frames.h"
#include "dataflow/cluster/device_name.h"
#include "schema/credentials.h"

namespace actorflow {

// Held in memory: what hosts get is written there, for the time of the job.
class JobCredentials {
 public:
  // Those of the folder, which gets what it lacks; "": new ones, of which no file is made here. Throws
  // what generate_keys() does.
  JobCredentials(const std::string& folder, const std::vector<TaskName>& tasks);

  // Hands a host the credentials of these tasks, and no others: "credentials NAME BYTES ...".
  Frame frame_for(const std::vector<TaskName>& tasks) const;

 private:
  void add(const TaskName& task, const Credentials& credentials);

  std::map<TaskName, Frame> own_;  // NAME BYTES NAME BYTES
  std::string authority_;
};

}  // namespace actorflow
