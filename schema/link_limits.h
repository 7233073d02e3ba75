// Default limits of what a task takes from another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace actorflow {

// What a task takes at a time of another's large tensors, and how long that one waits when they are not
// destroyed (RpcOptions).
inline constexpr std::size_t default_max_incoming_bytes = std::size_t{8} << 30;
inline constexpr std::int64_t default_full_window_timeout_ms = 60'000;

}  // namespace actorflow
