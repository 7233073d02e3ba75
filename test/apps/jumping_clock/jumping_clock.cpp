// A library that a test loads before a program (LD_PRELOAD), so that the program's wall clock jumps when
// the test says so. The environment's JUMPING_CLOCK names a file with the seconds by which it is ahead,
// which a test may change at any time. Steady clocks go on as they do where somebody sets the time.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

// By system calls only: any code may ask for the time.
long seconds_ahead() {
  const char* const path = getenv("JUMPING_CLOCK");
  const int file =
      path ? static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)) : -1;
  if (file < 0) return 0;
  char text[32] = {};
  const long size = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  return size > 0 ? strtol(text, nullptr, 10) : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += seconds_ahead();
  return static_cast<int>(result);
}

int gettimeofday(timeval* now, void*) {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}

}  // extern "C"
