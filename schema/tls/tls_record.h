// Recognising TLS at an end of a connection that does not speak it. Internal to schema/.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace actorflow {

enum class TlsRecord : std::uint8_t { alert = 21, handshake = 22 };

// Whether the first bytes of a connection begin a record of this type. No message of ours begins so: it
// would have too many segments.
template <class Bytes>
bool is_tls_record(const Bytes& first_bytes, TlsRecord type) {
  constexpr std::uint8_t major_version = 3;
  std::array<std::uint8_t, 2> begin{};
  std::memcpy(begin.data(), &first_bytes, begin.size());
  return begin[0] == static_cast<std::uint8_t>(type) && begin[1] == major_version;
}

// The alert to a peer that speaks TLS with a task that does not: handshake_failure, fatal.
inline constexpr std::array<std::uint8_t, 7> no_tls_here{21, 3, 3, 0, 2, 2, 40};
// The alert to a peer that does not speak TLS, from a task that does: protocol_version.
inline constexpr std::array<std::uint8_t, 7> tls_only_here{21, 3, 3, 0, 2, 2, 70};

}  // namespace actorflow
