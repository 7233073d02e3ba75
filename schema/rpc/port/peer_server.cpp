#include "schema/rpc/port/peer_server.h"

#include <kj/debug.h>

#include <algorithm>
#include <string>

#include "schema/rpc/port/task_service.h"

namespace actorflow {
namespace {

constexpr auto socket_flags = kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                              kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                              kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK;

}  // namespace

void PeerServer::start(kj::Own<kj::ConnectionReceiver> receiver) {
  receiver_ = kj::mv(receiver);
  accepting_ = accept_all(*receiver_, false);
  if (core_.options.shared_memory_bytes > 0) start_local();
}

void PeerServer::start_local() {
  auto local = listen_locally();
  if (!local) return;
  local_name_ = local->name;
  local_receiver_ = core_.loop.sockets().wrapListenSocketFd(local->socket.release(), socket_flags);
  accepting_locally_ = accept_all(*local_receiver_, true);
}

void PeerServer::close() {
  closed_ = true;
  while (!connections_.empty()) drop(*connections_.begin()->second, "");
  core_.loop.later([self = shared_from_this()] {
    self->accepting_ = nullptr;
    self->accepting_locally_ = nullptr;
    self->stranger_warnings_.stop();
    self->budget_->stop();
    self->receiver_ = nullptr;
    self->local_receiver_ = nullptr;
  });
}

kj::Promise<void> PeerServer::accept_all(kj::ConnectionReceiver& receiver, bool local) {
  return accept(receiver, local).eagerlyEvaluate([this](kj::Exception&& exception) {
    core_.loop.lost("the port of " + self_.name.to_string() + " takes no connections any more",
                    exception);
  });
}

kj::Promise<void> PeerServer::accept(kj::ConnectionReceiver& receiver, bool local) {
  return receiver.accept().then(
      [this, &receiver, local](kj::Own<kj::AsyncIoStream> io) {
        try_to_admit(kj::mv(io), local);
        return accept(receiver, local);
      },
      [this, &receiver, local](kj::Exception&& exception) {
        core_.options.on_warning(std::string("cannot accept a connection: ") +
                                 exception.getDescription().cStr());
        return core_.loop.timer().afterDelay(100 * kj::MILLISECONDS).then([this, &receiver, local] {
          return accept(receiver, local);
        });
      });
}

// Admits the connection. Without memory for it, the server goes on with others.
void PeerServer::try_to_admit(kj::Own<kj::AsyncIoStream> io, bool local) {
  const std::uint64_t id = next_id_;
  try {
    admit(kj::mv(io), local);
  } catch (const std::exception& error) {
    core_.options.on_warning(std::string("cannot accept a connection: ") + error.what());
    if (const auto begun = connections_.find(id); begun != connections_.end()) drop(*begun->second, "");
  }
}

void PeerServer::admit(kj::Own<kj::AsyncIoStream> io, bool local) {
  if (closed_) return;
  if (!local) keep_alive(*io);
  make_room_for_stranger(local);
  auto incoming = kj::heap<IncomingConnection>();
  const auto connection = std::make_shared<Connection>(*this, next_id_++);
  if (!local) connection->address = peer_name(*io);
  incoming->socket = kj::mv(io);
  incoming->local = local;
  connection->local = local;
  connections_.emplace(connection->id, connection);
  strangers_like(*connection).insert(connection->id);
  watch(connection);
  Connection& it = *connection;
  auto greeted =
      kj::evalNow([&] { return greet(core_.loop, core_.keys.context(self_.name), *incoming); });
  it.opening = greeted
                   .then([this, &it, incoming = kj::mv(incoming)](const std::string& refusal) mutable {
                     if (refusal.empty()) return open(it, kj::mv(incoming));
                     drop(it, refusal);
                     return kj::Promise<void>(kj::READY_NOW);
                   })
                   .eagerlyEvaluate([this, &it](kj::Exception&&) {
                     drop(it, "the peer left, or sent no valid message, before it introduced itself");
                   });
}

// Closes a connection that has not introduced itself, if there are many. A member introduces itself
// within milliseconds; silent strangers must not keep others out.
void PeerServer::make_room_for_stranger(bool local) {
  const auto& strangers = local ? local_strangers_ : strangers_;
  if (strangers.size() >= static_cast<std::size_t>(core_.options.max_strangers))
    drop(*connections_.at(*strangers.begin()), "it has not introduced itself, and many others came");
}

std::size_t PeerServer::members() const {
  return connections_.size() - strangers_.size() - local_strangers_.size();
}

// The first 8 bytes tell a bulk connection from Cap'n Proto.
kj::Promise<void> PeerServer::open(Connection& connection, kj::Own<IncomingConnection> incoming) {
  connection.names = incoming->names;
  if (incoming->head == bulk_magic) return open_bulk(connection, kj::mv(incoming));
  KJ_REQUIRE(!incoming->local, "a local connection is for large messages only");
  if (const int most = core_.options.max_connections; members() >= static_cast<std::size_t>(most))
    drop(connection, "there are already " + std::to_string(most) + " others, and no more are let in");
  else
    open_rpc(connection, *incoming);
  return kj::READY_NOW;
}

void PeerServer::open_rpc(Connection& connection, IncomingConnection& incoming) {
  const auto shared = connections_.at(connection.id);
  const auto progress = [this, &connection] {
    if (connection.open && connection.peer && inbox_.heard) inbox_.heard(*connection.peer);
  };
  connection.rpc =
      kj::heap<RpcEnd>(kj::mv(incoming.io), incoming.head, make_task_service(shared), progress);
  connection.disconnected =
      connection.rpc->network.onDisconnect()
          .then([this, &connection] {
            if (!connection.open) return;
            drop(connection,
                 connection.introduced()
                     ? ""
                     : "the peer left, or sent no valid message, before it introduced itself");
          })
          .eagerlyEvaluate(core_.loop.or_lost("closing a connection that has ended"));
}

// Gives the stream to the connection that the token belongs to.
kj::Promise<void> PeerServer::open_bulk(Connection& connection, kj::Own<IncomingConnection> incoming) {
  auto& token = incoming->token;
  auto read = incoming->io->read(token.data(), token.size());
  return read.then([this, &connection, incoming = kj::mv(incoming)]() mutable {
    const auto owner = std::ranges::find_if(connections_, [&](const auto& entry) {
      return entry.second->peer && !entry.second->bulk && entry.second->token == incoming->token;
    });
    KJ_REQUIRE(owner != connections_.end(), "no connection has this token");
    KJ_REQUIRE(incoming->local || owner->second->names == incoming->names, "another peer's token");
    attach_bulk(*owner->second, *incoming);
    drop(connection, "");
  });
}

void PeerServer::attach_bulk(Connection& owner, IncomingConnection& incoming) {
  std::shared_ptr<const SharedView> view;
  if (incoming.local) {
    KJ_REQUIRE(same_user(KJ_REQUIRE_NONNULL(incoming.io->getFd())), "a process of another user");
    view = std::make_shared<const SharedView>(incoming.file.get());
  }
  owner.bulk = std::make_shared<BulkReceiver>(
      core_, kj::mv(incoming.io), std::move(view), budget_->share(owner.who()),
      BulkReceiver::Events{[&owner](Message message) { owner.receive_bulk(std::move(message)); },
                           [&owner](const std::string& reason) { owner.server.drop(owner, reason); }});
  owner.bulk->start();
}

Status PeerServer::admit(const TaskIdentity& peer) {
  Status status;
  if (inbox_.admit) {
    // The status if `admit` throws: a peer that was not checked stays out.
    status = {Code::internal, "it could not be found out whether " + peer.name.to_string() +
                                  " may come in; the log of the task that refuses it says why"};
    core_.call_back([&] { status = inbox_.admit(peer); });
  }
  if (!status.ok()) return status;
  // Older connections of the same task are from before a failure; drop() tells those who still wait for
  // their messages.
  std::vector<std::shared_ptr<Connection>> older;
  for (const auto& [id, connection] : connections_)
    if (connection->peer && connection->peer->name == peer.name) older.push_back(connection);
  for (const auto& connection : older) drop(*connection, "");
  return status;
}

void PeerServer::watch(const std::shared_ptr<Connection>& connection) {
  Connection& it = *connection;
  const auto limit_ms = core_.options.handshake_timeout_ms;
  it.deadline =
      core_.loop.timer()
          .afterDelay(limit_ms * kj::MILLISECONDS)
          .then([this, &it, limit_ms] {
            if (it.open && !it.introduced())
              drop(it, "the peer did not introduce itself within " + std::to_string(limit_ms) + " ms");
          })
          .eagerlyEvaluate(nullptr);
}

void PeerServer::drop(Connection& connection, const std::string& reason) {
  if (!connection.open) return;
  connection.open = false;
  const auto kept = connections_.extract(connection.id).mapped();
  const bool was_stranger = strangers_like(connection).erase(connection.id) > 0;
  core_.loop.later([kept] {
    kept->opening = nullptr;
    kept->deadline = nullptr;
    kept->disconnected = nullptr;
    kept->order.clear();
    if (kept->bulk) kept->bulk->stop();
    kept->bulk = nullptr;
    kept->rpc = nullptr;
  });
  if (!reason.empty() && was_stranger)
    stranger_warnings_.closed(connection.who(), reason);
  else if (!reason.empty())
    core_.options.on_warning("closed the connection from " + connection.who() + ": " + reason);
  if (!closed_) close_sessions(connection);
  if (!closed_ && connection.peer) core_.call_back([&] { inbox_.gone(*connection.peer); });
}

// Closes the sessions that this connection opened: nobody else knows their handles.
void PeerServer::close_sessions(Connection& connection) {
  for (const auto& session : std::exchange(connection.sessions, {}))
    core_.call_back([&] { inbox_.master(CloseSession{session}, [](const MasterReply&) {}); });
}

}  // namespace actorflow
