// The options of the launcher beside the job itself.
#pragma once

#include <string>

#include "apps/launch/job_spec.h"

namespace actorflow {

struct LaunchOptions {
  JobSpec job;
  std::string version;      // of this program, which those on other machines must have, too
  std::string actorflow;    // where that program is on other machines; "" = where it is here
  std::string ssh_config;   // for ssh -F; "" = the user's
  bool secure = false;      // tasks get credentials for mutual TLS
  std::string credentials;  // the folder that those are of; "" = new ones for this job alone
  int first_port = 0;       // of each host; 0 = free ones
};

}  // namespace actorflow
