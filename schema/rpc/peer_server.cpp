#include "schema/rpc/peer_server.h"

#include <kj/debug.h>

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
      for (const auto envelope : context.getParams().getEnvelopes()) {
        auto message = read_message(envelope, tensors, core.ops);
        connection_->server.inbox().received(*connection_->peer, std::move(message));
        if (!connection_->open) return;
      }
    });
  }
  kj::Promise<void> put(PutContext context) override {
    return handle([&] { connection_->transfers.put(context.getParams().getChunk()); });
  }
  kj::Promise<void> done(DoneContext) override { return kj::READY_NOW; }

 private:
  template <class Step>
  kj::Promise<void> handle(Step&& step) {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
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
    const Status status = check_hello(params);
    write_status(status, results.initStatus());
    if (!status.ok()) return kj::READY_NOW;
    connection_->peer = read_identity(params.getSelf());
    connection_->rpc->stream.trust();
    results.setInbox(kj::heap<InboxService>(connection_));
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
    if (connection_->peer) return {Code::failed_precondition, "this connection is in use already"};
    return {};
  }

  std::shared_ptr<Connection> connection_;
};

}  // namespace

Connection::Connection(PeerServer& accepted_by, std::uint64_t number)
    : server(accepted_by),
      id(number),
      transfers(accepted_by.core().allocator, accepted_by.core().options.max_incoming_bytes) {}

void PeerServer::start(kj::Own<kj::ConnectionReceiver> receiver) {
  receiver_ = kj::mv(receiver);
  accepting_ = accept().eagerlyEvaluate(nullptr);
}

void PeerServer::close() {
  closed_ = true;
  while (!connections_.empty()) drop(*connections_.begin()->second, "");
  core_.loop.later([self = shared_from_this()] {
    self->accepting_ = nullptr;
    self->receiver_ = nullptr;
  });
}

kj::Promise<void> PeerServer::accept() {
  return receiver_->accept().then(
      [this](kj::Own<kj::AsyncIoStream> io) {
        admit(kj::mv(io));
        return accept();
      },
      [this](kj::Exception&& exception) {
        core_.options.on_warning(std::string("cannot accept a connection: ") +
                                 exception.getDescription().cStr());
        return core_.loop.timer().afterDelay(100 * kj::MILLISECONDS).then([this] { return accept(); });
      });
}

void PeerServer::admit(kj::Own<kj::AsyncIoStream> io) {
  if (closed_) return;
  if (connections_.size() >= static_cast<std::size_t>(core_.options.max_connections)) {
    core_.options.on_warning("refused a connection: there are " + std::to_string(connections_.size()) +
                             " already");
    return;
  }
  const auto connection = std::make_shared<Connection>(*this, next_id_++);
  connection->rpc = kj::heap<RpcEnd>(kj::mv(io), wire::Task::Client(kj::heap<TaskService>(connection)));
  connections_.emplace(connection->id, connection);
  watch(connection);
}

void PeerServer::watch(const std::shared_ptr<Connection>& connection) {
  Connection& it = *connection;
  const auto limit_ms = core_.options.handshake_timeout_ms;
  it.deadline =
      core_.loop.timer()
          .afterDelay(limit_ms * kj::MILLISECONDS)
          .then([this, &it, limit_ms] {
            if (it.open && !it.rpc->stream.trusted())
              drop(it, "the peer did not introduce itself within " + std::to_string(limit_ms) + " ms");
          })
          .eagerlyEvaluate(nullptr);
  it.disconnected = it.rpc->network.onDisconnect()
                        .then([this, &it] {
                          if (!it.open) return;
                          const bool trusted = it.rpc->stream.trusted();
                          drop(it, trusted ? ""
                                           : "the peer left, or sent no valid message, before it "
                                             "introduced itself");
                        })
                        .eagerlyEvaluate(nullptr);
}

void PeerServer::drop(Connection& connection, const std::string& reason) {
  if (!connection.open) return;
  connection.open = false;
  const auto kept = connections_.extract(connection.id).mapped();
  core_.loop.later([kept] {
    kept->deadline = nullptr;
    kept->disconnected = nullptr;
    kept->rpc = nullptr;
  });
  if (!reason.empty()) {
    const std::string who = connection.peer ? connection.peer->name.to_string() : "an unknown peer";
    core_.options.on_warning("closed the connection from " + who + ": " + reason);
  }
  if (!closed_ && connection.peer) guard([&] { inbox_.gone(*connection.peer); });
}

void PeerServer::guard(const std::function<void()>& callback) {
  try {
    callback();
  } catch (const std::exception& error) {
    core_.options.on_warning(std::string("a handler failed: ") + error.what());
  }
}

}  // namespace actorflow
