#include "schema/rpc/peer_server.h"

#include <kj/debug.h>
#include <algorithm>

#include "schema/codec/message_codec.h"
#include "schema/codec/text.h"
#include "schema/rpc/master_service.h"

namespace actorflow {
namespace {

class InboxService final : public wire::Inbox::Server {
 public:
  explicit InboxService(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  kj::Promise<void> deliver(DeliverContext context) override {
    return handle([&] {
      auto& core = connection_->server.core();
      TensorReader tensors(core.allocator, connection_->transfers);
      core.options.dispatch([&] {
        for (const auto envelope : context.getParams().getEnvelopes()) {
          receive(envelope.getAfterBulk(), read_message(envelope, tensors, core.ops));
          if (!connection_->open) return;
        }
      });
    });
  }

  kj::Promise<void> done(DoneContext context) override {
    auto taken = kj::newPromiseAndFulfiller<void>();
    const auto fulfiller =
        std::make_shared<kj::Own<kj::PromiseFulfiller<void>>>(kj::mv(taken.fulfiller));
    return handle([&] {
             connection_->order.run_after(context.getParams().getAfterBulk(),
                                          [fulfiller] { (*fulfiller)->fulfill(); });
           })
        .then([taken = kj::mv(taken.promise)]() mutable { return kj::mv(taken); });
  }

 private:
  void receive(std::uint64_t after_bulk, Message&& message) {
    Connection& it = *connection_;
    if (it.order.reached(after_bulk)) return it.receive(std::move(message));
    // Kept by the connection itself: hence no shared_ptr to it.
    it.order.run_after(
        after_bulk, [&it, message = std::move(message)]() mutable { it.receive(std::move(message)); });
  }

  template <class Step>
  kj::Promise<void> handle(Step&& step) {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    connection_->server.core().loop.traffic();
    try {
      step();
    } catch (const std::exception& error) {
      connection_->server.drop(*connection_, error.what());
      throw;
    }
    return kj::READY_NOW;
  }

  std::shared_ptr<Connection> connection_;
};

class TaskService final : public wire::Task::Server {
 public:
  explicit TaskService(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  kj::Promise<void> connect(ConnectContext context) override {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    const auto params = context.getParams();
    auto results = context.getResults();
    write_identity(connection_->server.self(), results.initSelf());
    const TaskIdentity peer = read_identity(params.getSelf());
    Status status = check_hello(params);
    if (status.ok()) status = connection_->server.admit(peer);
    write_status(status, results.initStatus());
    if (!status.ok()) return kj::READY_NOW;
    connection_->peer = peer;
    connection_->rpc->stream.trust();
    results.setInbox(kj::heap<InboxService>(connection_));
    write_terms(results.initBulk());
    return kj::READY_NOW;
  }

  kj::Promise<void> master(MasterContext context) override {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    auto results = context.getResults();
    const Status status = check_version(context.getParams().getProtocolVersion());
    write_status(status, results.initStatus());
    if (!status.ok()) return kj::READY_NOW;
    connection_->rpc->stream.trust();
    results.setMaster(make_master_service(connection_));
    return kj::READY_NOW;
  }

  kj::Promise<void> status(StatusContext context) override {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    auto results = context.getResults();
    write_identity(connection_->server.self(), results.initSelf());
    results.setProtocolVersion(wire::PROTOCOL_VERSION);
    results.setConnections(static_cast<std::uint32_t>(connection_->server.connections()));
    return kj::READY_NOW;
  }

 private:
  Status check_hello(wire::Task::ConnectParams::Reader hello) const {
    if (const Status status = check_version(hello.getProtocolVersion()); !status.ok()) return status;
    const TaskName expected = read_task_name(hello.getExpected());
    const TaskName& actual = connection_->server.self().name;
    if (expected != actual)
      return {Code::failed_precondition, "expected " + expected.to_string() + ", but " +
                                             actual.to_string() +
                                             " answers here; check the addresses in the cluster"};
    if (const TaskName claimed = read_identity(hello.getSelf()).name; !connection_->may_be(claimed))
      return {Code::permission_denied, "the caller says that it is " + claimed.to_string() +
                                           ", but its certificate is for " + connection_->names.front()};
    if (connection_->peer) return {Code::failed_precondition, "this connection is in use already"};
    return {};
  }

  void write_terms(wire::BulkLane::Builder bulk) const {
    const auto& options = connection_->server.core().options;
    connection_->token = random_token();
    bulk.setToken({reinterpret_cast<const kj::byte*>(connection_->token.data()), sizeof(BulkToken)});
    bulk.setLocalSocket(to_text(connection_->server.local_socket()));
    bulk.setWindowBytes(options.window_bytes);
    bulk.setMaxBytes(options.max_incoming_bytes);
  }

  std::shared_ptr<Connection> connection_;
};

constexpr auto socket_flags = kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                              kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                              kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK;

}  // namespace

Connection::Connection(PeerServer& accepted_by, std::uint64_t number)
    : server(accepted_by),
      id(number),
      transfers(accepted_by.core().allocator, accepted_by.core().options.max_incoming_bytes) {}

bool Connection::may_be(const TaskName& task) const {
  return server.core().keys.empty() || std::ranges::find(names, holder_name(task)) != names.end();
}

std::string Connection::who() const {
  if (peer) return peer->name.to_string();
  const std::string name = names.empty() ? "an unknown peer" : names.front();
  return address.empty() ? name : name + " at " + address;
}

void Connection::receive(Message&& message) {
  if (open) server.inbox().received(*peer, std::move(message));
}

void PeerServer::start(kj::Own<kj::ConnectionReceiver> receiver) {
  receiver_ = kj::mv(receiver);
  accepting_ = accept(*receiver_, false).eagerlyEvaluate(nullptr);
  if (core_.options.shared_memory_bytes > 0) start_local();
}

void PeerServer::start_local() {
  auto local = listen_locally();
  if (!local) return;
  local_name_ = local->name;
  local_receiver_ = core_.loop.sockets().wrapListenSocketFd(local->socket.release(), socket_flags);
  accepting_locally_ = accept(*local_receiver_, true).eagerlyEvaluate(nullptr);
}

void PeerServer::close() {
  closed_ = true;
  while (!connections_.empty()) drop(*connections_.begin()->second, "");
  core_.loop.later([self = shared_from_this()] {
    self->accepting_ = nullptr;
    self->accepting_locally_ = nullptr;
    self->receiver_ = nullptr;
    self->local_receiver_ = nullptr;
  });
}

kj::Promise<void> PeerServer::accept(kj::ConnectionReceiver& receiver, bool local) {
  return receiver.accept().then(
      [this, &receiver, local](kj::Own<kj::AsyncIoStream> io) {
        admit(kj::mv(io), local);
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

void PeerServer::admit(kj::Own<kj::AsyncIoStream> io, bool local) {
  if (closed_) return;
  if (!local) keep_alive(*io);
  // Whoever is here may still open a bulk lane.
  const auto lanes_to_come = std::ranges::count_if(
      connections_, [](const auto& entry) { return entry.second->peer && !entry.second->bulk; });
  if (connections_.size() >= max_connections() + static_cast<std::size_t>(lanes_to_come))
    return core_.options.on_warning(too_many());
  auto visitor = kj::heap<Visitor>();
  const auto connection = std::make_shared<Connection>(*this, next_id_++);
  if (!local) connection->address = peer_name(*io);
  visitor->socket = kj::mv(io);
  visitor->local = local;
  connections_.emplace(connection->id, connection);
  watch(connection);
  Connection& it = *connection;
  auto greeted = kj::evalNow(
      [&] { return greet(core_.loop, core_.keys.context(self_.name), *visitor); });
  it.opening =
      greeted
          .then([this, &it, visitor = kj::mv(visitor)](const std::string& refusal) mutable {
            if (refusal.empty()) return open(it, kj::mv(visitor));
            drop(it, refusal);
            return kj::Promise<void>(kj::READY_NOW);
          })
          .eagerlyEvaluate([this, &it](kj::Exception&&) {
            drop(it, "the peer left, or sent no valid message, before it introduced itself");
          });
}

std::size_t PeerServer::max_connections() const {
  return static_cast<std::size_t>(core_.options.max_connections);
}

std::string PeerServer::too_many() const {
  return "refused a connection: there are " + std::to_string(max_connections()) + " already";
}

// The first 8 bytes tell a bulk lane from Cap'n Proto.
kj::Promise<void> PeerServer::open(Connection& connection, kj::Own<Visitor> visitor) {
  connection.names = visitor->names;
  if (visitor->head == bulk_magic) return open_bulk(connection, kj::mv(visitor));
  KJ_REQUIRE(!visitor->local, "a local connection is for large messages only");
  if (connections_.size() > max_connections())
    drop(connection, too_many());
  else
    open_rpc(connection, *visitor);
  return kj::READY_NOW;
}

void PeerServer::open_rpc(Connection& connection, Visitor& visitor) {
  const auto shared = connections_.at(connection.id);
  const auto progress = [this, &connection] {
    if (connection.open && connection.peer && inbox_.heard) inbox_.heard(*connection.peer);
  };
  connection.rpc = kj::heap<RpcEnd>(kj::mv(visitor.io), visitor.head,
                                    wire::Task::Client(kj::heap<TaskService>(shared)), progress);
  connection.disconnected =
      connection.rpc->network.onDisconnect()
          .then([this, &connection] {
            if (!connection.open) return;
            drop(connection,
                 connection.introduced()
                     ? ""
                     : "the peer left, or sent no valid message, before it introduced itself");
          })
          .eagerlyEvaluate(nullptr);
}

// The connection gives its stream to the one that the token belongs to, and ends.
kj::Promise<void> PeerServer::open_bulk(Connection& connection, kj::Own<Visitor> visitor) {
  auto& token = visitor->token;
  auto read = visitor->io->read(token.data(), token.size());
  return read.then([this, &connection, visitor = kj::mv(visitor)]() mutable {
    const auto owner = std::ranges::find_if(connections_, [&](const auto& entry) {
      return entry.second->peer && !entry.second->bulk && entry.second->token == visitor->token;
    });
    KJ_REQUIRE(owner != connections_.end(), "no connection has this token");
    KJ_REQUIRE(visitor->local || owner->second->names == visitor->names, "another peer's token");
    attach_bulk(*owner->second, *visitor);
    drop(connection, "");
  });
}

void PeerServer::attach_bulk(Connection& owner, Visitor& visitor) {
  std::shared_ptr<const SharedView> view;
  if (visitor.local) {
    KJ_REQUIRE(same_user(KJ_REQUIRE_NONNULL(visitor.io->getFd())), "a process of another user");
    view = std::make_shared<const SharedView>(visitor.file.get());
  }
  owner.bulk = std::make_shared<BulkReceiver>(
      core_, kj::mv(visitor.io), std::move(view),
      BulkReceiver::Events{[&owner](Message message) {
                             auto& core = owner.server.core();
                             core.loop.traffic();
                             core.options.dispatch([&] {
                               owner.receive(std::move(message));
                               owner.order.advance();
                             });
                           },
                           [&owner](const std::string& reason) { owner.server.drop(owner, reason); }});
  owner.bulk->start();
}

Status PeerServer::admit(const TaskIdentity& peer) {
  Status status;
  if (inbox_.admit) guard([&] { status = inbox_.admit(peer); });
  if (!status.ok()) return status;
  // What it has said there is of before a failure; whoever waits for more must learn that none comes.
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
  core_.loop.later([kept] {
    kept->opening = nullptr;
    kept->deadline = nullptr;
    kept->disconnected = nullptr;
    kept->order.clear();
    if (kept->bulk) kept->bulk->stop();
    kept->bulk = nullptr;
    kept->rpc = nullptr;
  });
  if (!reason.empty()) {
    core_.options.on_warning("closed the connection from " + connection.who() + ": " + reason);
  }
  if (!closed_) close_sessions(connection);
  if (!closed_ && connection.peer) guard([&] { inbox_.gone(*connection.peer); });
}

// Nobody else knows their handles.
void PeerServer::close_sessions(Connection& connection) {
  for (const auto& session : std::exchange(connection.sessions, {}))
    guard([&] { inbox_.master(CloseSession{session}, [](const MasterReply&) {}); });
}

void PeerServer::guard(const std::function<void()>& callback) {
  try {
    core_.options.dispatch(callback);
  } catch (const std::exception& error) {
    core_.options.on_warning(std::string("a handler failed: ") + error.what());
  }
}

}  // namespace actorflow
