// The accepting side of an RPC network: a port and its connections. Internal to schema/: includes Cap'n
// Proto.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/codec/transfer.h"
#include "schema/rpc/bulk_order.h"
#include "schema/rpc/bulk_receiver.h"
#include "schema/rpc/rpc_core.h"
#include "schema/rpc/visitor.h"

namespace actorflow {

class PeerServer;

// A connection that was accepted. The loop's.
struct Connection {
  Connection(PeerServer& accepted_by, std::uint64_t number);
  bool introduced() const { return rpc.get() != nullptr && rpc->stream.trusted(); }
  // Does its certificate allow the peer to be this task? Without credentials everyone may.
  bool may_be(const TaskName& task) const;
  std::string who() const;
  // Hands a message of the peer over, unless the connection has been closed.
  void receive(Message&& message);

  PeerServer& server;  // only while open
  std::uint64_t id;
  bool open = true;
  std::string address;               // of its other end, as far as it is known
  std::vector<std::string> names;    // in its certificate; none without credentials
  std::optional<TaskIdentity> peer;  // set by its `connect`
  BulkToken token{};                 // the same
  std::set<std::string> sessions;    // that its client has made: closed when it leaves
  TransferReceiver transfers;
  BulkOrder order;
  kj::Promise<void> opening = nullptr;
  kj::Own<RpcEnd> rpc;                 // null before its first bytes, and once closed
  std::shared_ptr<BulkReceiver> bulk;  // null before its first large message, and once closed
  kj::Promise<void> deadline = nullptr;
  kj::Promise<void> disconnected = nullptr;
};

// The loop's, but for construction.
class PeerServer : public std::enable_shared_from_this<PeerServer> {
 public:
  PeerServer(RpcCore& core, TaskIdentity self, Inbox inbox)
      : core_(core), self_(std::move(self)), inbox_(std::move(inbox)) {}

  // Accepts connections over TCP, and over the local socket if there is one.
  void start(kj::Own<kj::ConnectionReceiver> receiver);
  // No callback comes after this; safe inside of one.
  void close();
  // The listener's word on a task that wants to connect; its older connections are closed if it may.
  Status admit(const TaskIdentity& peer);
  // Closes one connection, with a warning unless `reason` is empty; safe inside of one of its calls.
  void drop(Connection& connection, const std::string& reason);

  RpcCore& core() { return core_; }
  const TaskIdentity& self() const { return self_; }
  const Inbox& inbox() const { return inbox_; }
  const std::string& local_socket() const { return local_name_; }  // empty: none
  std::size_t connections() const { return connections_.size(); }

 private:
  void start_local();
  kj::Promise<void> accept(kj::ConnectionReceiver& receiver, bool local);
  void admit(kj::Own<kj::AsyncIoStream> io, bool local);
  std::size_t max_connections() const;
  std::string too_many() const;
  kj::Promise<void> open(Connection& connection, kj::Own<Visitor> visitor);
  void open_rpc(Connection& connection, Visitor& visitor);
  kj::Promise<void> open_bulk(Connection& connection, kj::Own<Visitor> visitor);
  void attach_bulk(Connection& owner, Visitor& visitor);
  void watch(const std::shared_ptr<Connection>& connection);
  void close_sessions(Connection& connection);
  void guard(const std::function<void()>& callback);

  RpcCore& core_;
  TaskIdentity self_;
  Inbox inbox_;
  bool closed_ = false;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  std::string local_name_;
  kj::Own<kj::ConnectionReceiver> receiver_, local_receiver_;
  kj::Promise<void> accepting_ = nullptr, accepting_locally_ = nullptr;
};

}  // namespace actorflow
