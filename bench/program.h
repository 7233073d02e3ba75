// Another program of this build, as a process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace actorflow::bench {

// A process that is expected to end by itself: the destructor waits for it for a minute, then kills it.
// Not thread-safe.
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

// A program that lies beside this one.
std::string path_of_program(const std::string& name);

// What a shell's command prints. Throws if it fails.
std::string output_of(const std::string& command);

// Addresses "127.0.0.1:port" of that many free ports.
std::vector<std::string> free_addresses(int count);

}  // namespace actorflow::bench
