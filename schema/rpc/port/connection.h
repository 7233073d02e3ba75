// One connection that a port has accepted. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/codec/transfer.h"
#include "schema/rpc/bulk_connection.h"
#include "schema/rpc/bulk_order.h"
#include "schema/rpc/bulk_receiver.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

class PeerServer;

// A connection. For the loop's thread.
struct Connection {
  Connection(PeerServer& accepted_by, std::uint64_t number);
  bool introduced() const { return rpc.get() != nullptr && rpc->stream.trusted(); }
  // Whether the peer's certificate allows it to be this task; without credentials every peer may.
  bool may_be(const TaskName& task) const;
  std::string who() const;
  // Call when the peer has introduced itself, as a task or as a client.
  void trust();
  // Hands a message of the bulk plane over, unless the connection has been closed.
  void receive_bulk(Message message);

  PeerServer& server;  // only while open
  std::uint64_t id;
  bool open = true;
  bool local = false;                // over the Unix socket
  std::string address;               // of the other end, as far as known
  std::vector<std::string> names;    // in its certificate; none without credentials
  std::optional<TaskIdentity> peer;  // set by its `connect`
  BulkToken token{};                 // the same
  std::set<std::string> sessions;    // of its client: closed when it leaves
  TransferReceiver transfers;
  BulkOrder order;
  kj::Promise<void> opening = nullptr;
  kj::Own<RpcEnd> rpc;                 // null before its first bytes, and once closed
  std::shared_ptr<BulkReceiver> bulk;  // null before its first large message, and once closed
  kj::Promise<void> deadline = nullptr;
  kj::Promise<void> disconnected = nullptr;

 private:
  void receive(wire::Delivery::Reader delivery);
  void receive_after(std::uint64_t bulk_messages, Message message);
  void hand_over(Message&& message);
};

}  // namespace actorflow
