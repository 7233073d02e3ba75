// Ports that a keeper holds until its tasks listen on them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "apps/launch/keeper/spawn.h"

namespace actorflow {

class HeldPorts {
 public:
  // Listens on `count` ports: free ones, outside of those that the system gives to connections, or, if
  // `first` is not 0, `first` and those after it. Throws unavailable that names a port that is taken.
  std::vector<int> hold(int count, int first);
  // Frees a port for its task.
  void release(int port) { ports_.erase(port); }

 private:
  std::map<int, FileDescriptor> ports_;
};

// The ports on which processes of this machine listen, by the kernel's list: nobody is connected to.
std::set<int> listened_ports();

// For each "host:port" why no process answers there within the time; "" if one does. All are tried at
// once, on threads, since looking up a name may take any time.
std::vector<std::string> why_unreachable(const std::vector<std::string>& addresses, int timeout_ms);

}  // namespace actorflow
