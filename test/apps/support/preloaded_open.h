// The calls that open files, in libraries that tests load before a program (LD_PRELOAD): both go to
// open_file(), which the library defines. For one source of each library.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

// As open() returns it.
int open_file(const char* path, int flags, mode_t mode);

// What the system does.
inline int really_open(const char* path, int flags, mode_t mode) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(flags & O_CREAT ? va_arg(arguments, int) : 0);
  va_end(arguments);
  return open_file(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(flags & O_CREAT ? va_arg(arguments, int) : 0);
  va_end(arguments);
  return open_file(path, flags, mode);
}
}
