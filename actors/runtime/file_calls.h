// The calls of an operating system that files are made of: the lower seam of storage.h. The real ones
// are in posix_storage.cpp; a simulated disk fails them as real disks do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace actorflow {

enum class OpenMode : std::uint8_t {
  read,
  create,  // for writing, empty
  append,  // made if it is missing
  folder,  // for sync()
};
enum class PathKind : std::uint8_t { nothing, file, folder, other };

// Named after POSIX, with its errors: what returns a number returns -errno where it failed. Thread-safe.
class FileCalls {
 public:
  virtual ~FileCalls() = default;
  // A handle, which is to be closed.
  virtual int open(const std::string& path, OpenMode mode) = 0;
  virtual void close(int file) = 0;
  // How many bytes; maybe fewer than there are.
  virtual std::int64_t write(int file, std::span<const std::byte> bytes) = 0;
  virtual std::int64_t read(int file, std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual std::int64_t size(int file) = 0;
  // fsync: of a file its bytes, of a folder the names in it survive a loss of power from here on.
  virtual int sync(int file) = 0;
  virtual int rename(const std::string& from, const std::string& to) = 0;
  virtual int unlink(const std::string& path) = 0;
  virtual int make_folder(const std::string& path) = 0;
  // What there is at the path.
  virtual int look(const std::string& path, PathKind& kind) = 0;
  // Adds the names of a folder's files.
  virtual int list(const std::string& folder, std::vector<std::string>& names) = 0;
  // Of this process: no other one of its machine that lives now has it.
  virtual std::string process() = 0;
  // As Storage::wall_time_s().
  virtual double wall_time_s() = 0;
};

// Of this machine.
FileCalls& posix_calls();

}  // namespace actorflow
