// A disk that can be full.
#pragma once

#include <string>

namespace actorflow {

// A file system in memory on a folder, for this process and the children that it starts from then on;
// others see the empty folder. To be used from the main thread. Gone with the object, or with this
// process.
class MemoryDisk {
 public:
  // Throws Error (unavailable) where why_none() is not empty.
  explicit MemoryDisk(std::string folder);
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;
  // Empty, or why this process cannot have any.
  static std::string why_none();

  // Leaves no room beside what is in use now; to be called again for what has been removed meanwhile.
  void fill();
  void make_room();

 private:
  bool resize(const std::string& bytes);

  const std::string folder_;
};

}  // namespace actorflow
