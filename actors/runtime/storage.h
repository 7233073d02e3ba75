// The seam between actors and files: checkpoints, event files and input go through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

// A file in the making, under a name of its own; it is gone unless it is committed.
class NewFile {
 public:
  virtual ~NewFile() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Puts the file in the place of its path, so that a crash at any moment leaves there the old or the
  // new content: fsync, rename, fsync of the folder. The last call. Where it throws, the new content may
  // have taken the place of the old all the same.
  virtual void commit() = 0;
};

// A file that is being read. Stays readable when it is removed or replaced.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual std::uint64_t size_bytes() = 0;
  // Fills `into` with the bytes from `offset` on; data_loss if the file ends before.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
};

// A disk. Errors throw Error (resource_exhausted for a full disk, not_found, permission_denied, disk_error
// for other failures) that name path and bytes. Thread-safe; of its files one at a time.
class Storage {
 public:
  virtual ~Storage() = default;
  // Makes missing folders, which survive a crash.
  virtual std::unique_ptr<NewFile> create(const std::string& path) = 0;
  virtual std::unique_ptr<OpenFile> open(const std::string& path) = 0;
  // Adds bytes to the end of a file, which is made with its folders if it is missing. A crash may leave
  // some of the bytes.
  virtual void append(const std::string& path, std::span<const std::byte> bytes) = 0;
  virtual bool exists(const std::string& path) = 0;
  // Names (not paths) of the files in a folder; empty if there is no such folder.
  virtual std::vector<std::string> list(const std::string& folder) = 0;
  // Not an error if there is no such file.
  virtual void remove(const std::string& path) = 0;
  // What was removed from the folder stays so, whatever crashes.
  virtual void sync(const std::string& folder) = 0;
  // What its machine's calendar shows, in seconds since 1970. It may jump: for people, not for measuring.
  virtual double wall_time_s() = 0;

  // The whole file.
  std::vector<std::byte> read(const std::string& path);
  // As create(), write() and commit().
  void write_atomically(const std::string& path, std::span<const std::byte> bytes);
};

// Real files.
Storage& posix_storage();

}  // namespace actorflow
