// Functions of the C library, in front of the real ones: they note who calls them while the thread is
// watched.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "actors/simulation/world/escape_watch.h"

namespace {

thread_local bool watched = false;
thread_local std::string noted;

// The library's own function of that name.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string find_place(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || !info.dli_fname) return "?";
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
  std::array<char, 32> text{};
  snprintf(text.data(), text.size(), "+0x%tx", offset);
  return info.dli_sname ? info.dli_sname : std::string(info.dli_fname) + text.data();
}

// Remembered, since finding a place takes the time of hundreds of messages, and each line of the log asks again.
const std::string& place_of(const void* address) {
  static thread_local std::unordered_map<const void*, std::string> places;
  const auto [place, is_new] = places.try_emplace(address);
  if (is_new) place->second = find_place(address);
  return place->second;
}

void note(const char* what) {
  if (!watched || !noted.empty()) return;
  watched = false;  // calls from here do not count
  std::array<void*, 16> frames{};
  const int count = backtrace(frames.data(), frames.size());
  std::string places;
  bool is_log = false;
  for (int i = 2; i < count; ++i) {
    const std::string& place = place_of(frames[static_cast<std::size_t>(i)]);
    is_log |= place.find("spdlog") != std::string::npos;
    places += "\n  " + place;
  }
  if (!is_log) noted = std::string(what) + " is called by" + places;
  watched = true;
}

// Files that are only read are no escape: they are the same for each seed.
bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0; }
bool writes(const char* mode) { return mode[0] != 'r' || std::strchr(mode, '+'); }

// The third argument of open(), if there is one.
mode_t mode_of(int flags, va_list more) { return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0; }

}  // namespace

extern "C" {

void actorflow_watch_escapes(bool watch) { watched = watch; }

const char* actorflow_take_escape() {
  static thread_local std::string taken;
  taken.swap(noted);
  noted.clear();
  return taken.c_str();
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto next = real<int(clockid_t, timespec*)>("clock_gettime");
  note("clock_gettime");
  return next(clock, time);
}

int nanosleep(const timespec* duration, timespec* left) {
  static const auto next = real<int(const timespec*, timespec*)>("nanosleep");
  note("nanosleep");
  return next(duration, left);
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* duration, timespec* left) {
  static const auto next = real<int(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
  note("clock_nanosleep");
  return next(clock, flags, duration, left);
}

ssize_t getrandom(void* into, std::size_t size, unsigned flags) {
  static const auto next = real<ssize_t(void*, std::size_t, unsigned)>("getrandom");
  note("getrandom");
  return next(into, size, flags);
}

int getentropy(void* into, std::size_t size) {
  static const auto next = real<int(void*, std::size_t)>("getentropy");
  note("getentropy");
  return next(into, size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static const auto next =
      real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  note("pthread_create");
  return next(thread, attributes, start, argument);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto next = real<int(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  note("pthread_cond_wait");
  return next(condition, mutex);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  static const auto next =
      real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>("pthread_cond_clockwait");
  note("pthread_cond_clockwait");
  return next(condition, mutex, clock, end);
}

time_t time(time_t* into) noexcept {
  static const auto next = real<time_t(time_t*)>("time");
  note("time");
  return next(into);
}

int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
  static const auto next = real<int(timeval*, void*)>("gettimeofday");
  note("gettimeofday");
  return next(time, zone);
}

unsigned sleep(unsigned seconds) {
  static const auto next = real<unsigned(unsigned)>("sleep");
  note("sleep");
  return next(seconds);
}

int usleep(useconds_t duration) {
  static const auto next = real<int(useconds_t)>("usleep");
  note("usleep");
  return next(duration);
}

// Seeded once per process: the numbers of a seed would depend on the seeds before it.
int rand() noexcept {
  static const auto next = real<int()>("rand");
  note("rand");
  return next();
}

// std::random_device's number, which comes from the processor.
unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  static const auto next = real<unsigned(void*)>("_ZNSt13random_device9_M_getvalEv");
  note("std::random_device");
  return next(device);
}

int socket(int domain, int type, int protocol) noexcept {
  static const auto next = real<int(int, int, int)>("socket");
  note("socket");
  return next(domain, type, protocol);
}

int open(const char* path, int flags, ...) {
  static const auto next = real<int(const char*, int, mode_t)>("open");
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (writes(flags)) note("open for writing");
  return next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  static const auto next = real<int(const char*, int, mode_t)>("open64");
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  if (writes(flags)) note("open64 for writing");
  return next(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static const auto next = real<FILE*(const char*, const char*)>("fopen");
  if (writes(mode)) note("fopen for writing");
  return next(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static const auto next = real<FILE*(const char*, const char*)>("fopen64");
  if (writes(mode)) note("fopen64 for writing");
  return next(path, mode);
}

}  // extern "C"
