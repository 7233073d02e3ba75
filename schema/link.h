// The seam between a task and the others: ordered, one-way links. The real one speaks Cap'n Proto RPC
// over TCP (rpc_network.h); within a process and in simulations others stand in for it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "dataflow/error.h"
#include "schema/master.h"
#include "schema/message.h"

namespace actorflow {

// The sending end of a connection to one task. Closes when destroyed (after which no event comes).
// Thread-safe.
class Link {
 public:
  virtual ~Link() = default;
  // First in, first out. Never blocks: what the peer has not taken yet is queued. After `down` a
  // message is dropped: the loss has been reported.
  virtual void send(Message message) = 0;
};

// Called from the network's thread, one at a time; must not block.
struct LinkEvents {
  // The handshake is done: who answered.
  std::function<void(const TaskIdentity&)> up;
  // The link could not be made or broke: the last event. unavailable if the peer is not there,
  // failed_precondition if it is the wrong task or speaks another version.
  std::function<void(const Status&)> down;
};

// What a listening task does with what arrives. Called from the network's thread, one at a time;
// must not block.
struct Inbox {
  std::function<void(const TaskIdentity& from, Message)> received;
  // The connection on which `from` sent has closed.
  std::function<void(const TaskIdentity& from)> gone;
  // Requests of clients to this task's master.
  MasterHandler master;
};

// Stops listening, and closes what it accepted, when destroyed.
class Listener {
 public:
  virtual ~Listener() = default;
  // "host:port" with the port that was really taken.
  virtual const std::string& address() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // Accepts links to `self` at "host:port"; port 0 picks a free one. Throws unavailable, naming the
  // port, if it is taken, and invalid_argument for an address that is not understood.
  virtual std::unique_ptr<Listener> listen(const std::string& address, const TaskIdentity& self,
                                           Inbox inbox) = 0;
  // One attempt to reach `peer` at `address`; the result is an event. Retrying is the caller's.
  virtual std::unique_ptr<Link> connect(const std::string& address, const TaskIdentity& self,
                                        const TaskName& peer, LinkEvents events) = 0;
};

}  // namespace actorflow
