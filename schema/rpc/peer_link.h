// The calling side of an RPC network: a link to one task. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schema/codec/tensor_codec.h"
#include "schema/rpc/bulk_sender.h"
#include "schema/rpc/outbox.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {

// The work behind a Link. It outlives the Link until it has delivered all sent messages or given up.
class PeerLink : public std::enable_shared_from_this<PeerLink> {
 public:
  PeerLink(RpcCore& core, std::string address, TaskIdentity self, TaskName peer, LinkEvents events)
      : core_(core),
        address_(std::move(address)),
        self_(std::move(self)),
        peer_(std::move(peer)),
        events_(std::move(events)),
        bulk_(std::make_shared<BulkSender>(core, outbox_, name(), bulk_events())) {}

  // Any thread.
  void send(Message message);
  std::size_t waiting_bytes() const { return outbox_.waiting_bytes(); }
  TensorPath tensor_path() const { return bulk_->path(); }

  // The following functions: on the loop only.
  void start();
  // No event comes after this; may be called inside one. Calls `released` later, when nothing is left to
  // do.
  void close(std::function<void()> released);

 private:
  using Hello = wire::Task::ConnectResults::Reader;

  BulkSender::Events bulk_events();
  kj::Promise<void> introduce(kj::Own<RpcEnd> rpc);
  void welcome(Hello hello);
  void pump();
  kj::Promise<void> pump_all();
  kj::Promise<void> deliver(const std::vector<ControlMessage>& batch);
  void write(const Message& message, TensorWriter& tensors, wire::Envelope::Builder to) const;
  void finish_if_closed();
  void finish();
  void fail(Status status);
  void release();
  void notify(const std::function<void()>& event);
  std::string name() const { return peer_.to_string() + " at " + address_; }

  RpcCore& core_;
  const std::string address_;
  const TaskIdentity self_;
  const TaskName peer_;
  const LinkEvents events_;
  Outbox outbox_;
  const std::shared_ptr<BulkSender> bulk_;
  CallSecurity security_;  // the loop's

  bool closed_ = false;  // the rest: the loop's
  bool down_ = false;
  std::function<void()> released_;
  kj::Own<RpcEnd> rpc_;
  kj::Maybe<wire::Inbox::Client> inbox_;  // once the peer has answered
  kj::Promise<void> connecting_ = nullptr;
  kj::Promise<void> disconnected_ = nullptr;
  // pump_all() is under way. Starting another would cancel it, and leave half a message in the stream.
  bool draining_ = false;
  bool finishing_ = false;
  kj::Promise<void> sending_ = nullptr;
};

}  // namespace actorflow
