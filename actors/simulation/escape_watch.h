// Catches what runs in a simulation and asks the real machine for time, chance or threads.
#pragma once

#include <string>

namespace actorflow {

// Watches the thread as long as it exists: what then calls clock_gettime, nanosleep, getrandom, pthread_create
// or the like is noted. Only in programs that link `actorflow_escape_watch`, whose functions take the place of
// the C library's; elsewhere it does nothing. What is logged may look at the clock.
class EscapeWatch {
 public:
  EscapeWatch();
  EscapeWatch(const EscapeWatch&) = delete;
  EscapeWatch& operator=(const EscapeWatch&) = delete;
  ~EscapeWatch();

  // The first since the last call: the function's name and the callers' places. "" if there was none.
  static std::string take();
  // Whether this program links it.
  static bool works();
};

// The two sides that the watching library defines.
extern "C" {
__attribute__((weak)) void actorflow_watch_escapes(bool watch);
__attribute__((weak)) const char* actorflow_take_escape();
}

}  // namespace actorflow
