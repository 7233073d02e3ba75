// The Network over Cap'n Proto RPC on TCP (worker.capnp): one thread with an event loop for all links
// and listeners of a task.
//
// Limits: a peer that has not introduced itself may send 16 KiB and is closed after a while; a message
// has at most 64 MiB, larger tensors are sent in chunks; the bytes that a peer has announced but not yet
// used are bounded. A message that is not understood closes its connection, and nothing else.
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
  // A folder of `actorflow keygen`: every connection then uses mutual TLS (schema/tls/README.md). Empty:
  // plain connections.
  std::string credentials = {};
  // Without credentials, addresses that other machines can reach are refused unless this is set: anyone
  // who reaches them can read and change everything.
  bool insecure = false;
  int max_connections = default_max_connections;  // that have introduced themselves, per listener
  // Further ones, which have not introduced themselves yet, over TCP and locally each. The newest takes
  // the place of the oldest.
  int max_strangers = 256;
  std::int64_t handshake_timeout_ms = 10'000;  // for connecting and the handshake, at both ends
  // The time for which a destroyed link goes on delivering messages that were sent before.
  std::int64_t linger_ms = 5'000;
  // The limit of a peer's large messages whose tensors are alive here or being sent. A single message
  // above it fails its step at the sender.
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  // The limit of all peers of a listener together, for tensors in memory of its own; a peer that has
  // nothing alive here may send one message all the same. What is over the limit waits in its peer until
  // tensors are destroyed, and fails its step with resource_exhausted if none is for
  // full_window_timeout_ms. 0: half of the machine's memory, but no less than max_incoming_bytes.
  std::size_t incoming_budget_bytes = 0;
  // The window within a peer's limit: one that has filled it waits until tensors are destroyed here. A
  // larger message is sent alone.
  std::size_t window_bytes = std::size_t{256} << 20;
  // The time after which a waiting sender doubles its window if no tensor is destroyed: the receiver
  // needs more of them at a time.
  std::int64_t window_patience_ms = 1'000;
  // The time after which a window that was not half full is halved, down to window_bytes.
  std::int64_t window_idle_ms = 60'000;
  // The time after which a waiting message fails its step with resource_exhausted, naming the steps that
  // hold memory, if the peer is at its max_incoming_bytes and destroys no tensor. on_warning reports the
  // wait within 2 s.
  std::int64_t full_window_timeout_ms = default_full_window_timeout_ms;
  // The size of the shared memory for tensors to tasks of this machine; when it is full they are sent as
  // over TCP. 0: shared memory is neither offered nor accepted.
  std::size_t shared_memory_bytes = std::size_t{1} << 30;
  // Runs the callbacks of links and listeners, on the network's thread; those of messages that arrived
  // together are one call. Replace it to run code around them.
  std::function<void(const std::function<void()>& callbacks)> dispatch =
      [](const std::function<void()>& callbacks) { callbacks(); };
  // How long the network's thread polls after a message before it sleeps: answers come several times
  // sooner, for up to a core. Useful where cores are idle; 0: never.
  std::int64_t spin_us = 0;
  // Receives the reasons of refused and closed connections, on the network's thread.
  std::function<void(const std::string&)> on_warning = [](const std::string&) {};
  // Called, on the network's thread, when something is lost for which others would wait without end, as
  // for want of memory. It must end the process. Empty: the process ends with status 1.
  std::function<void(const std::string&)> on_lost = {};
};

// `ops` and `allocator`, from which incoming tensors come, must outlive the network and its links and
// listeners. The last of these to be destroyed waits until links have delivered their messages.
std::unique_ptr<Network> make_rpc_network(const OpRegistry& ops, Allocator& allocator,
                                          RpcOptions options = {});

}  // namespace actorflow
