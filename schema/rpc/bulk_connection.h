// How the second connection of a link, its bulk connection, is opened (worker.capnp). Internal to
// schema/: includes kj.
#pragma once

#include <kj/async-io.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "schema/io/shared_memory.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

using BulkToken = std::array<std::byte, 16>;
BulkToken random_token();

// The first bytes that the caller writes. No Cap'n Proto message begins with them: it would have too
// many segments.
inline constexpr GuardedStream::Head bulk_magic{0x4f4c4641, 0x4b4c4257};  // "AFLOWBLK"

// The socket of a listener for callers of the same machine: abstract, so it leaves no file.
struct LocalSocket {
  FileDescriptor socket;
  std::string name;
};
// Opens such a socket; empty if the system does not provide it.
std::optional<LocalSocket> listen_locally();
// True if a process of our own user is at the other end of a Unix socket.
bool same_user(int socket);

// A bulk connection that has been accepted.
struct BulkConnection {
  kj::Own<kj::AsyncIoStream> stream;
  bool shares_memory = false;
};

struct BulkAddress {
  BulkToken token;
  std::string local_socket;                  // empty: none
  kj::Own<kj::NetworkAddress> tcp;           // the address of the RPC connection
  CallSecurity security;                     // that of the RPC connection
  std::shared_ptr<const SharedArena> arena;  // null: none to share
};

// Opens the lane over the local socket if possible, else over TCP. The local socket has no TLS: the
// kernel tells which user is at its other end, and the token, sent over the RPC connection only, names
// the link.
kj::Promise<BulkConnection> open_bulk(IoLoop& loop, BulkAddress address);

// Lets the loop look for other I/O before the next part of a large tensor.
inline kj::Promise<void> after_poll(IoLoop& loop) {
  return loop.timer().afterDelay(0 * kj::NANOSECONDS);
}

// The bytes that a payload counts for beside its own, so that many tiny payloads are limited too.
inline constexpr std::size_t payload_overhead_bytes = 4096;

// The size of the parts in which tensors are read, written and copied, with a poll between. With larger
// parts the receiver begins to read when the sender is nearly done, and control messages wait; smaller
// parts cost throughput (README.md).
inline constexpr std::size_t bulk_part_bytes = std::size_t{3} << 17;

}  // namespace actorflow
