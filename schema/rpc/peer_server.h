// The accepting side of an RPC network: a port and its connections. Internal to schema/: includes Cap'n
// Proto.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "schema/codec/transfer.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

class PeerServer;

// A connection that was accepted. The loop's.
struct Connection {
  Connection(PeerServer& accepted_by, std::uint64_t number);

  PeerServer& server;  // only while open
  std::uint64_t id;
  bool open = true;
  std::optional<TaskIdentity> peer;  // set by its `connect`
  TransferReceiver transfers;
  kj::Own<RpcEnd> rpc;  // null once closed
  kj::Promise<void> deadline = nullptr;
  kj::Promise<void> disconnected = nullptr;
};

// The loop's, but for construction.
class PeerServer : public std::enable_shared_from_this<PeerServer> {
 public:
  PeerServer(RpcCore& core, TaskIdentity self, Inbox inbox)
      : core_(core), self_(std::move(self)), inbox_(std::move(inbox)) {}

  void start(kj::Own<kj::ConnectionReceiver> receiver);
  // No callback comes after this; safe inside of one.
  void close();
  // Closes one connection, with a warning unless `reason` is empty; safe inside of one of its calls.
  void drop(Connection& connection, const std::string& reason);

  RpcCore& core() { return core_; }
  const TaskIdentity& self() const { return self_; }
  const Inbox& inbox() const { return inbox_; }
  std::size_t connections() const { return connections_.size(); }

 private:
  kj::Promise<void> accept();
  void admit(kj::Own<kj::AsyncIoStream> io);
  void watch(const std::shared_ptr<Connection>& connection);
  void guard(const std::function<void()>& callback);

  RpcCore& core_;
  TaskIdentity self_;
  Inbox inbox_;
  bool closed_ = false;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  kj::Own<kj::ConnectionReceiver> receiver_;
  kj::Promise<void> accepting_ = nullptr;
};

}  // namespace actorflow
