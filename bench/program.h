// Another program of this build, as a process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace actorflow::bench {

// Runs until it ends by itself; a minute after it should have ended, and if it is still there, it is
// killed. Not thread-safe.
class Program {
 public:
  // `name` lies beside this program. Throws unavailable if it does not start.
  Program(const std::string& name, const std::vector<std::string>& arguments);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

 private:
  pid_t id_ = -1;
};

// "127.0.0.1:port" for so many ports on which nobody listens now.
std::vector<std::string> free_addresses(int count);

}  // namespace actorflow::bench
