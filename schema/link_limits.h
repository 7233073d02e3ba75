// Default limits of what a task accepts from others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace actorflow {

// The bytes of large tensors that a task accepts from another at a time, and the time for which the
// sender waits while none is destroyed (RpcOptions).
inline constexpr std::size_t default_max_incoming_bytes = std::size_t{8} << 30;
inline constexpr std::int64_t default_full_window_timeout_ms = 60'000;

// The tasks and clients that may be connected to a task (RpcOptions).
inline constexpr int default_max_connections = 4096;

}  // namespace actorflow
