// How the second connection of a link, its bulk connection, is opened (worker.capnp). Internal to
// schema/: includes kj.
#pragma once

#include <kj/async-io.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "schema/rpc/rpc_core.h"
#include "schema/rpc/shared_memory.h"

namespace actorflow {

using BulkToken = std::array<std::byte, 16>;
BulkToken random_token();

// What the caller writes first. No Cap'n Proto message begins like this: it would have too many
// segments.
inline constexpr GuardedStream::Head bulk_magic{0x4f4c4641, 0x4b4c4257};  // "AFLOWBLK"

// Where callers of the same machine find a listener: an abstract socket, which no file is left of.
struct LocalSocket {
  FileDescriptor socket;
  std::string name;
};
// Empty if the system does not provide it.
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
  kj::Own<kj::NetworkAddress> tcp;           // where the RPC connection leads to
  CallSecurity security;                     // as there
  std::shared_ptr<const SharedArena> arena;  // null: none to share
};

// Over the local socket if that can be, else over TCP. The local one is without TLS: the kernel says who is at
// its other end, and the token, which only the RPC connection tells, which link it belongs to.
kj::Promise<BulkConnection> open_bulk(IoLoop& loop, BulkAddress address);

// Lets the loop look for other I/O before the next part of a large tensor.
inline kj::Promise<void> after_poll(IoLoop& loop) {
  return loop.timer().afterDelay(0 * kj::NANOSECONDS);
}

// What a payload takes of limits beside its bytes, so that many tiny ones are limited too.
inline constexpr std::size_t payload_overhead_bytes = 4096;

// Tensors are read, written and copied in parts of this size, with a poll between. In larger ones the
// receiver begins to read when the sender is nearly done, and control messages wait; smaller ones cost
// throughput (README.md).
inline constexpr std::size_t bulk_part_bytes = std::size_t{3} << 17;

}  // namespace actorflow
