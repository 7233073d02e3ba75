// A library that a test loads before a program (LD_PRELOAD), so that it runs out of memory.
//
// While it writes a file: the environment's SCARCE_MEMORY is a part of the file's path. From when such a
// file is opened for writing until it is renamed, one allocation of the thread that opened it fails, of
// the first such file the 1st, of the third the 2nd, of the fifth the 4th, and so on; those between are
// written in peace.
//
// Now and then: with SCARCE_MEMORY_EVERY=n one of about n allocations fails from 2 s after a trainer's
// start on, whichever it is; each is told.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

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

bool allocation_of_a_writer_fails() {
  if (writer == 0 || writer != syscall(SYS_gettid) || --left != 0) return false;
  writer = 0;
  return true;
}

timespec now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}

// Programs that start the trainers are spared.
bool is_trainer() {
  char name[17] = {};  // at most 15 characters, and the end of the line
  const int file = really_open("/proc/self/comm", O_RDONLY, 0);
  const bool is_read = file >= 0 && read(file, name, sizeof name - 1) > 0;
  if (file >= 0) close(file);
  return is_read && strstr(name, "trainer\n") != nullptr;
}

// One of how many allocations fails; 0: none.
std::uint64_t every() {
  const char* const text = getenv("SCARCE_MEMORY_EVERY");
  return text && is_trainer() ? strtoull(text, nullptr, 10) : 0;
}

const std::uint64_t one_of = every();
const timespec start = now();
std::atomic<std::uint64_t> allocations{0};
std::atomic<bool> begun{false};

bool has_begun() {
  if (!begun && allocations % 256 == 0) begun = now().tv_sec - start.tv_sec >= 2;
  return begun;
}

// The same for no two processes.
std::uint64_t scrambled(std::uint64_t number) {
  number = (number + static_cast<std::uint64_t>(start.tv_nsec)) * 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 29U)) * 0xBF58476D1CE4E5B9U;
  return number ^ (number >> 32U);
}

bool any_allocation_fails() {
  if (one_of == 0 || !has_begun()) return ++allocations, false;
  if (scrambled(++allocations) % one_of != 0) return false;
  constexpr char text[] = "an allocation fails here\n";
  return write(2, text, sizeof text - 1) >= 0;
}

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
  if (!allocation_of_a_writer_fails() && !any_allocation_fails()) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"
