// A disk that can be full.
#pragma once

#include <string>

namespace actorflow {

// A file system in memory, mounted on a folder for this process and its later children; other processes
// see the empty folder. Use it from the main thread. It disappears with the object, or with this
// process.
class MemoryDisk {
 public:
  // Throws Error (failed_precondition) if why_none() is not empty.
  explicit MemoryDisk(std::string folder);
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;
  // The reason why this process cannot have one; empty if it can.
  static std::string why_none();

  // Leaves no free space; call it again after files have been removed.
  void fill();
  void make_room();

 private:
  bool resize(const std::string& bytes);

  const std::string folder_;
};

}  // namespace actorflow
