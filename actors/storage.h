// The seam between actors and files: checkpoints are written and read through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

// A folder of files. Errors throw Error (resource_exhausted for a full disk, not_found, unavailable for
// other failures) that name path and bytes. Thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  // Replaces `path` by the concatenation of `parts` so that a crash at any moment leaves the old or the
  // new content: temporary file, fsync, rename, fsync of the folder.
  virtual void write_atomically(const std::string& path,
                                std::span<const std::span<const std::byte>> parts) = 0;
  virtual std::vector<std::byte> read(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;
  // Names (not paths) of the files in a folder; empty if there is no such folder.
  virtual std::vector<std::string> list(const std::string& folder) = 0;
  // Not an error if there is no such file.
  virtual void remove(const std::string& path) = 0;
};

// Real files.
Storage& posix_storage();

}  // namespace actorflow
