// Detects calls from inside a simulation that ask the real machine for time, randomness or threads.
#pragma once

#include <string>

namespace actorflow {

// Watches the thread for its life and records calls for the time, sleep, random numbers (also rand() and
// std::random_device), threads and waits for them, sockets, and files that are opened for writing; files
// may be read. Works in programs that link `actorflow_escape_watch`, as the installed library of
// simulations does, whose functions replace those of the C library; elsewhere it does nothing. Logging
// may read the clock.
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
