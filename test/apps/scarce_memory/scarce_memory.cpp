// A library that a test loads before a program (LD_PRELOAD), so that it runs out of memory while it
// writes a file. The environment's SCARCE_MEMORY is a part of the file's path: from when such a file is
// opened for writing until it is renamed, one allocation of the thread that opened it fails, of the
// first such file the 1st, of the third the 2nd, of the fifth the 4th, and so on; those between are
// written in peace.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "test/apps/support/preloaded_open.h"

extern "C" void* __libc_malloc(std::size_t size);  // NOLINT: of the C library

namespace {

std::atomic<long> writer{0};  // the thread whose allocation will fail; 0: none
std::atomic<long> left{0};    // until then
std::atomic<long> files{0};

bool is_scarce(const char* path) {
  const char* const part = getenv("SCARCE_MEMORY");
  return part && strstr(path, part) != nullptr;
}

void begin_file() {
  const long number = files++;
  if (number % 2 != 0) return;
  left = 1L << (number / 2);
  writer = syscall(SYS_gettid);
}

bool allocation_fails() { return writer != 0 && writer == syscall(SYS_gettid) && --left == 0; }

}  // namespace

int open_file(const char* path, int flags, mode_t mode) {
  const int file = really_open(path, flags, mode);
  if (file >= 0 && (flags & O_CREAT) != 0 && is_scarce(path)) begin_file();
  return file;
}

extern "C" {

int rename(const char* from, const char* to) noexcept {
  if (is_scarce(to)) writer = 0;
  return static_cast<int>(syscall(SYS_rename, from, to));
}

void* malloc(std::size_t size) noexcept {
  if (!allocation_fails()) return __libc_malloc(size);
  writer = 0;
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"
