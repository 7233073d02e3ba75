// The Network over Cap'n Proto RPC on TCP (worker.capnp): one thread with an event loop for all links
// and listeners of a task.
//
// Limits: a peer that has not introduced itself may send 16 KiB and is closed after a while; a message
// has at most 64 MiB, larger tensors travel in chunks; what a peer has announced but not yet used is
// bounded. What is not understood closes its connection, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dataflow/graph/op.h"
#include "dataflow/values/buffer.h"
#include "schema/link.h"

namespace actorflow {

struct RpcOptions {
  // A folder of `actorflow keygen`: every connection is then one of mutual TLS, and none is anything else
  // (README.md, "Mutual TLS"). Empty: plain connections.
  std::string credentials = {};
  // Without credentials, addresses that other machines can reach are refused unless this is set: whoever
  // reaches them can read and change everything.
  bool insecure = false;
  int max_connections = 1024;                  // per listener
  std::int64_t handshake_timeout_ms = 10'000;  // for connecting and introducing oneself, at both ends
  // How long a destroyed link goes on delivering what was sent before.
  std::int64_t linger_ms = 1'000;
  // What a peer may have sent here in large messages whose tensors are still alive, or has begun to
  // send. A single message above it fails its step at the sender.
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  // How much of that a peer is asked to keep to: it waits then until tensors are destroyed here. A
  // message that is larger goes alone.
  std::size_t window_bytes = std::size_t{256} << 20;
  // A sender that has waited for so long without a tensor being destroyed doubles its window: the
  // receiver needs more of them at a time.
  std::int64_t window_patience_ms = 1'000;
  // A message that waits for a peer which holds all that it takes (its max_incoming_bytes) and has
  // destroyed no tensor for so long fails its step with resource_exhausted, saying which steps hold how
  // much. on_warning hears of the wait within 2 s.
  std::int64_t full_window_timeout_ms = default_full_window_timeout_ms;
  // Tensors go to tasks of this machine in shared memory of this size, or as over TCP when it is full;
  // 0: neither offered nor taken.
  std::size_t shared_memory_bytes = std::size_t{1} << 30;
  // Makes the callbacks of links and listeners, on the network's thread; those of messages that have
  // come together are one call. For what has to surround or follow them there.
  std::function<void(const std::function<void()>& callbacks)> dispatch =
      [](const std::function<void()>& callbacks) { callbacks(); };
  // For so long after a message the network's thread looks for the next one instead of sleeping: answers
  // come several times sooner, for up to a core. Worth it where cores are left over; 0: never.
  std::int64_t spin_us = 0;
  // Hears of connections that were refused or closed for a reason; on the network's thread.
  std::function<void(const std::string&)> on_warning = [](const std::string&) {};
};

// `ops` and `allocator`, from which incoming tensors come, must outlive the network and its links
// and listeners. The last of these to be destroyed waits for what links still have to deliver.
std::unique_ptr<Network> make_rpc_network(const OpRegistry& ops, Allocator& allocator,
                                          RpcOptions options = {});

}  // namespace actorflow
