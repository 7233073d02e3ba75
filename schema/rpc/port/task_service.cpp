#include "schema/rpc/port/task_service.h"

#include <kj/debug.h>

#include "schema/codec/message_codec.h"
#include "schema/codec/text.h"
#include "schema/rpc/master_service.h"
#include "schema/rpc/port/peer_server.h"

namespace actorflow {
namespace {

class InboxService final : public wire::Inbox::Server {
 public:
  explicit InboxService(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  kj::Promise<void> done(DoneContext context) override {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    auto taken = kj::newPromiseAndFulfiller<void>();
    const auto fulfiller =
        std::make_shared<kj::Own<kj::PromiseFulfiller<void>>>(kj::mv(taken.fulfiller));
    try {
      connection_->order.run_after(context.getParams().getAfterBulk(), 0,
                                   [fulfiller] { (*fulfiller)->fulfill(); });
    } catch (const std::exception& error) {
      connection_->server.drop(*connection_, error.what());
      throw;
    }
    return kj::mv(taken.promise);
  }

 private:
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
    connection_->trust();
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
    connection_->trust();
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

}  // namespace

wire::Task::Client make_task_service(std::shared_ptr<Connection> connection) {
  return kj::heap<TaskService>(std::move(connection));
}

}  // namespace actorflow
