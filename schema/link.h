// The seam between a task and the others: ordered, one-way links. The real implementation speaks Cap'n
// Proto RPC over TCP (rpc_network.h); there are others for tasks of one process and for simulations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dataflow/values/buffer.h"
#include "dataflow/values/error.h"
#include "schema/link_limits.h"
#include "schema/master.h"
#include "schema/message.h"

namespace actorflow {

// The way of large tensors.
enum class TensorPath : std::uint8_t {
  none,           // not known before the first one
  in_process,     // as a handle
  shared_memory,  // to a process of this machine: copied once, or not at all (Network::allocator)
  stream,         // over TCP
};

// From how many bytes on a message is large: it goes by the bulk plane, and its tensors their own way.
inline constexpr std::size_t large_message_bytes = std::size_t{64} << 10;

// The sending end of a connection to one task. Closes when destroyed (after which no event comes).
// Thread-safe.
//
// Order. Small messages arrive in the order in which they were sent, and so do large ones. But a small
// message overtakes large ones that were sent before it, and may be overtaken by large ones that are
// sent after it, so that nothing urgent waits behind a tensor. Exceptions:
// - AbortStep and DeregisterGraph come after every RunGraph that was sent before them;
// - ReplicaDone and Shutdown come after everything that was sent before them.
// So the messages of a step may come in any order, except that its abort follows its run. Tensors are
// told apart by step and channel, and may come before the run that waits for them or after its abort.
class Link {
 public:
  virtual ~Link() = default;
  // Never blocks: messages that the peer has not taken yet are queued. A peer holds a bounded amount of
  // large tensors at a time (RpcOptions::window_bytes, incoming_budget_bytes); the next one waits, here
  // as a handle or in the connection, until some are destroyed there. A message that is too large to be
  // sent at all, or has waited for too long, is replaced by an Undelivered, or by a StepDone or
  // ActorMessage with the reason. After `down` messages are dropped: the loss has been reported.
  virtual void send(Message message) = 0;
  // The approximate size of the large messages that wait here. A sender that is faster than its peer can
  // bound its own memory by it.
  virtual std::size_t waiting_bytes() const { return 0; }
  virtual TensorPath tensor_path() const { return TensorPath::none; }
};

// Called from the network's thread, one at a time; must not block.
struct LinkEvents {
  // The handshake is done; names the task that answered.
  std::function<void(const TaskIdentity&)> up;
  // The link could not be made, or broke; the last event. unavailable if the peer is not there,
  // failed_precondition if it is the wrong task or speaks another version, or the answer of
  // Inbox::admit.
  std::function<void(const Status&)> down;
};

// The callbacks of a listening task. Called from the network's thread, one at a time; must not block.
struct Inbox {
  std::function<void(const TaskIdentity& from, Message)> received;
  // The connection from `from` has closed, or it has opened a new one.
  std::function<void(const TaskIdentity& from)> gone;
  // Requests of clients to this task's master.
  MasterHandler master;
  // Asked first for each peer: whether `from` may connect. An error is sent to it as the answer. If not
  // set, it may.
  std::function<Status(const TaskIdentity& from)> admit{};
  // A part of a message from `from` has arrived. May be empty.
  std::function<void(const TaskIdentity& from)> heard{};
};

// A listening port. Its destructor stops listening and closes the accepted connections.
class Listener {
 public:
  virtual ~Listener() = default;
  // "host:port" with the port that was really taken.
  virtual const std::string& address() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // Accepts links to `self` at "host:port"; port 0 picks a free one. Throws already_exists, naming
  // the port, if it is taken, and invalid_argument for an address that is not understood.
  virtual std::unique_ptr<Listener> listen(const std::string& address, const TaskIdentity& self,
                                           Inbox inbox) = 0;
  // Makes one attempt to reach `peer` at `address`; the result is an event. The caller retries.
  virtual std::unique_ptr<Link> connect(const std::string& address, const TaskIdentity& self,
                                        const TaskName& peer, LinkEvents events) = 0;
  // An allocator whose tensors reach tasks of the same machine without a copy.
  virtual Allocator& allocator() { return heap(); }
};

}  // namespace actorflow
