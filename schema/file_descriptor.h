// Ownership of file descriptors.
#pragma once

#include <chrono>
#include <utility>

namespace actorflow {

// A file descriptor that closes itself.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Locks the file or folder, until it is closed, once no other process has it locked. False if another
// one has held it for all that time; true, without a lock, where the file system has none.
bool lock_within(const FileDescriptor& file, std::chrono::milliseconds patience);

// Lets this process have as many descriptors as the system allows it: shells give 1,024, and a task of a
// large cluster has two connections for each other one.
void raise_descriptor_limit();

}  // namespace actorflow
