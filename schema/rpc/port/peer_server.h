// The accepting side of an RPC network: a port and its connections. Internal to schema/: includes Cap'n
// Proto.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "schema/rpc/incoming_budget.h"
#include "schema/rpc/port/connection.h"
#include "schema/rpc/port/counted_warnings.h"
#include "schema/rpc/port/incoming_connection.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

// For the loop's thread, except construction.
class PeerServer : public std::enable_shared_from_this<PeerServer> {
 public:
  PeerServer(RpcCore& core, TaskIdentity self, Inbox inbox)
      : core_(core),
        self_(std::move(self)),
        inbox_(std::move(inbox)),
        budget_(std::make_shared<IncomingBudget>(core.loop.timer(), core.options)),
        stranger_warnings_(core.loop.timer(), core.options.on_warning) {}

  // Accepts connections over TCP, and over the local socket if there is one.
  void start(kj::Own<kj::ConnectionReceiver> receiver);
  // No callback comes after this; may be called inside one.
  void close();
  // Asks the listener whether a task may connect; if so, closes its older connections.
  Status admit(const TaskIdentity& peer);
  // The connection has introduced itself.
  void welcome(const Connection& connection) { strangers_like(connection).erase(connection.id); }
  // Closes one connection, with a warning unless `reason` is empty; may be called inside its calls and
  // deliveries.
  void drop(Connection& connection, const std::string& reason);

  RpcCore& core() { return core_; }
  const TaskIdentity& self() const { return self_; }
  const Inbox& inbox() const { return inbox_; }
  const std::string& local_socket() const { return local_name_; }  // empty: none
  std::size_t connections() const { return connections_.size(); }

 private:
  void start_local();
  kj::Promise<void> accept_all(kj::ConnectionReceiver& receiver, bool local);
  kj::Promise<void> accept(kj::ConnectionReceiver& receiver, bool local);
  void try_to_admit(kj::Own<kj::AsyncIoStream> io, bool local);
  void admit(kj::Own<kj::AsyncIoStream> io, bool local);
  void make_room_for_stranger(bool local);
  std::size_t members() const;
  std::set<std::uint64_t>& strangers_like(const Connection& connection) {
    return connection.local ? local_strangers_ : strangers_;
  }
  kj::Promise<void> open(Connection& connection, kj::Own<IncomingConnection> incoming);
  void open_rpc(Connection& connection, IncomingConnection& incoming);
  kj::Promise<void> open_bulk(Connection& connection, kj::Own<IncomingConnection> incoming);
  void attach_bulk(Connection& owner, IncomingConnection& incoming);
  void watch(const std::shared_ptr<Connection>& connection);
  void close_sessions(Connection& connection);

  RpcCore& core_;
  TaskIdentity self_;
  Inbox inbox_;
  const std::shared_ptr<IncomingBudget> budget_;
  bool closed_ = false;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  // Those that have not introduced themselves yet, the oldest first; apart, so that neither kind keeps
  // the other out.
  std::set<std::uint64_t> strangers_, local_strangers_;
  CountedWarnings stranger_warnings_;
  std::string local_name_;
  kj::Own<kj::ConnectionReceiver> receiver_, local_receiver_;
  kj::Promise<void> accepting_ = nullptr, accepting_locally_ = nullptr;
};

}  // namespace actorflow
