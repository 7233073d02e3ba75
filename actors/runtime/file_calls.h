// The system calls for files: the lower seam of storage.h. The real ones are in posix_storage.cpp; a
// simulated disk lets them fail as real disks do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

enum class OpenMode : std::uint8_t {
  read,
  create,   // for writing, empty
  append,   // made if it is missing
  scratch,  // for writing and reading, made anew: EEXIST if it is there
  folder,   // for sync()
};
enum class PathKind : std::uint8_t { nothing, file, folder, other };

// The calls, named after those of POSIX and with its errors: functions that return a number return
// -errno on failure. Thread-safe.
class FileCalls {
 public:
  virtual ~FileCalls() = default;
  // Opens a file; the returned handle must be closed.
  virtual int open(const std::string& path, OpenMode mode) = 0;
  // Closes it, whatever is returned: a network file system may say only now that bytes are lost.
  virtual int close(int file) = 0;
  // Writes bytes; returns their number, which may be smaller than that given.
  virtual std::int64_t write(int file, std::span<const std::byte> bytes) = 0;
  // The same from an offset on; the file grows as needed.
  virtual std::int64_t write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual std::int64_t read(int file, std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual std::int64_t size(int file) = 0;
  // Finds out when the bytes of a file were last changed, in nanoseconds since 1970.
  virtual int changed(int file, std::int64_t& nanoseconds) = 0;
  // Asks that these bytes be on their way to the disk soon, so that sync() has less to wait for. A hint.
  virtual void write_back(int, std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}
  // fsync: from here on the bytes of a file, or the names in a folder, survive a loss of power.
  virtual int sync(int file) = 0;
  // -ENOTSUP if a device or a pipe has the name `to`: that is not replaced.
  virtual int rename(const std::string& from, const std::string& to) = 0;
  virtual int unlink(const std::string& path) = 0;
  virtual int make_folder(const std::string& path) = 0;
  // Whether this process may make names in the folder, and sync it: 0, or -EACCES or -EROFS if not.
  virtual int may_change(const std::string& folder) = 0;
  // Finds out what is at the path.
  virtual int look(const std::string& path, PathKind& kind) = 0;
  // Adds the names of a folder's files.
  virtual int list(const std::string& folder, std::vector<std::string>& names) = 0;
  // A name of this process that no other process has, of whichever machine or container: files that
  // several of them share are named after it.
  virtual std::string process() = 0;
  // As Storage::wall_time_s().
  virtual double wall_time_s() = 0;
};

// The calls of this machine.
FileCalls& posix_calls();

}  // namespace actorflow
