// Detects calls from inside a simulation that ask the real machine for time, randomness or threads.
#pragma once

#include <string>

namespace actorflow {

// Watches the thread for its life and records calls of clock_gettime, nanosleep, getrandom,
// pthread_create and similar. Works only in programs that link `actorflow_escape_watch`, whose functions
// replace those of the C library; elsewhere it does nothing. Logging may read the clock.
class EscapeWatch {
 public:
  EscapeWatch();
  EscapeWatch(const EscapeWatch&) = delete;
  EscapeWatch& operator=(const EscapeWatch&) = delete;
  ~EscapeWatch();

  // The first recorded call since the last take(): the function's name and the places of its callers. ""
  // if there was none.
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
