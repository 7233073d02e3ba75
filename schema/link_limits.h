// Default limits of the data that a task accepts from another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace actorflow {

// The bytes of large tensors that a task accepts from another at a time, and the time for which the
// sender waits while none is destroyed (RpcOptions).
inline constexpr std::size_t default_max_incoming_bytes = std::size_t{8} << 30;
inline constexpr std::int64_t default_full_window_timeout_ms = 60'000;

}  // namespace actorflow
