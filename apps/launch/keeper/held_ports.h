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

// Why nobody answers at "host:port" within the time; "" if somebody does.
std::string why_unreachable(const std::string& address, int timeout_ms);

}  // namespace actorflow
