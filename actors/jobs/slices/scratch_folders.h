// Scratch files in several folders, some of which may be full or broken.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"

namespace actorflow {

// Thread-safe.
class ScratchFolders {
 public:
  // `list`: one folder, or several with commas between them. REQUIRES: the storage outlives this and the
  // files.
  ScratchFolders(Storage& storage, const std::string& list);

  // A file in the next folder, in turn. A folder that has refused a file or its bytes is passed over as
  // long as another one has not. Throws the disk's error if no folder takes a file.
  std::unique_ptr<ScratchFile> file();

 private:
  struct Folder;
  class File;
  std::shared_ptr<Folder> next();

  Storage& storage_;
  std::vector<std::shared_ptr<Folder>> folders_;  // one at least
  std::atomic<std::size_t> files_{0};
};

}  // namespace actorflow
