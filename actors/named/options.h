// Options of users' actors.
#pragma once

#include <chrono>
#include <cstddef>

namespace actorflow {

struct SpawnOptions {
  // How often the actor begins anew, with a state that its factory makes, after a handler has thrown.
  // After that, or at once with 0, it is stopped: whoever sends to it gets not_found with the reason.
  int restarts = 3;
};

// The window of one sender: how many of its messages an actor may have without having handled or
// answered them.
struct ActorRefOptions {
  std::size_t window_messages = 1024;
  std::size_t window_bytes = std::size_t{16} << 20;  // a larger message goes alone
  // How long tell() and ask() wait for room in the window before they fail.
  std::chrono::milliseconds patience{60'000};
};

}  // namespace actorflow
