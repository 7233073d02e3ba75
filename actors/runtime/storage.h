// The seam between actors and files: checkpoints, event files and input go through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "dataflow/values/same_build.h"

namespace actorflow {

// What a disk has answered, in place of what it was asked for.
class StorageError : public Error {
 public:
  using Error::Error;
};

// A new file under a temporary name; it is removed unless it is committed.
class NewFile {
 public:
  virtual ~NewFile() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Moves the file to its path, so that a crash at any moment leaves the old or the new content there:
  // fsync, rename, fsync of the folder. The last call. If it throws, the new content may have replaced
  // the old one all the same.
  virtual void commit() = 0;
};

// An open file, which stays readable when it is removed or replaced. Thread-safe.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual std::uint64_t size_bytes() = 0;
  // Fills `into` with the bytes from `offset` on; data_loss if the file ends before.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
};

// A file without a name, for bytes that are put aside for a while. It ends with this object, or with its
// process. Thread-safe.
class ScratchFile {
 public:
  virtual ~ScratchFile() = default;
  // Appends the bytes and returns their offset.
  virtual std::uint64_t append(std::span<const std::byte> bytes) = 0;
  // Fills `into` with the bytes from `offset` on, which must have been appended.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
};

// A disk. Errors throw StorageError (resource_exhausted for a full disk, not_found, permission_denied,
// disk_error for other failures) that name path and bytes. Thread-safe; new files for one thread at a
// time.
class Storage {
 public:
  virtual ~Storage() = default;
  // Begins a new file. Makes missing folders, which survive a crash.
  virtual std::unique_ptr<NewFile> create(const std::string& path) = 0;
  virtual std::unique_ptr<OpenFile> open(const std::string& path) = 0;
  // A scratch file in this folder, which is made if it is missing. Throws unimplemented if the storage
  // has no such files.
  virtual std::unique_ptr<ScratchFile> scratch(const std::string& folder);
  // Adds bytes to the end of a file, which is made with its folders if it is missing. A crash may leave
  // some of the bytes.
  virtual void append(const std::string& path, std::span<const std::byte> bytes) = 0;
  // The same for a file that is there; when it returns, the bytes survive any crash. If it throws, any
  // part of them may be there. Throws unimplemented where files cannot be synced.
  virtual void append_synced(const std::string& path, std::span<const std::byte> bytes);
  virtual bool exists(const std::string& path) = 0;
  // Names (not paths) of the files in a folder; empty if there is no such folder.
  virtual std::vector<std::string> list(const std::string& folder) = 0;
  // Removes a file. A missing file is no error.
  virtual void remove(const std::string& path) = 0;
  // Makes removals from the folder survive any crash.
  virtual void sync(const std::string& folder) = 0;
  // The wall clock of its machine, in seconds since 1970. It may jump: for people, not for measuring.
  virtual double wall_time_s() = 0;

  // Reads a whole file.
  std::vector<std::byte> read(const std::string& path);
  // Writes a file by create(), write() and commit().
  void write_atomically(const std::string& path, std::span<const std::byte> bytes);
};

// Real files.
Storage& posix_storage();

}  // namespace actorflow
