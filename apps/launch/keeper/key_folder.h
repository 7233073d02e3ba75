// Credentials on a machine while a job runs there.
#pragma once

#include <string>

#include "schema/file_descriptor.h"

namespace actorflow {

// A folder that only its owner can enter, mode 0700, with files that only the owner can read, mode 0600.
// It is removed with the object. What a killed process has left is removed by the next object, or by
// clear_abandoned_keys().
class KeyFolder {
 public:
  // Throws Error that names the folder and the system's words.
  KeyFolder();
  KeyFolder(const KeyFolder&) = delete;
  KeyFolder& operator=(const KeyFolder&) = delete;
  ~KeyFolder();

  const std::string& path() const { return path_; }
  // Throws disk_error that names the file and the system's words.
  void add(const std::string& name, const std::string& bytes) const;

 private:
  std::string path_;
  FileDescriptor lock_;  // held as long as the folder is in use
};

// Clears away what killed processes have left, as far as it can.
void clear_abandoned_keys();

}  // namespace actorflow
