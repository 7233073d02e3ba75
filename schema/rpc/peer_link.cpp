#include "schema/rpc/peer_link.h"

#include <capnp/message.h>

#include "schema/codec/message_codec.h"

namespace actorflow {

BulkSender::Events PeerLink::bulk_events() {
  return {[this] { finish_if_closed(); }, [this](const Status& status) { fail(status); }};
}

void PeerLink::send(Message message) {
  const auto [plane, wake] = outbox_.push(std::move(message));
  if (!wake) return;
  // Posted, so that messages of one turn of the loop go out together.
  if (plane == Plane::control)
    core_.loop.post([self = shared_from_this()] { self->pump(); });
  else
    core_.loop.post([self = shared_from_this()] { self->bulk_->pump(); });
}

void PeerLink::start() {
  try {
    security_.tls = core_.keys.context(self_.name);
    security_.expected = peer_;
  } catch (const Error& error) {
    return fail(error.status());
  }
  auto opened = kj::evalNow([&] {
    return call_task(core_.loop, address_, security_).then([this](kj::Own<RpcEnd> rpc) {
      return introduce(kj::mv(rpc));
    });
  });
  connecting_ = answer_within(core_.options.handshake_timeout_ms, core_.loop.timer(), kj::mv(opened))
                    .catch_([this](kj::Exception&& exception) {
                      if (!security_.refusal->empty())
                        return fail({Code::permission_denied,
                                     "no connection to " + name() + ": " + *security_.refusal});
                      const Status why = status_of(exception);
                      fail({why.code, "cannot reach " + name() + ": " + why.message});
                    })
                    .eagerlyEvaluate(core_.loop.or_lost("giving up a connection"));
}

kj::Promise<void> PeerLink::introduce(kj::Own<RpcEnd> rpc) {
  rpc_ = kj::mv(rpc);
  auto request = rpc_->task().connectRequest();
  request.setProtocolVersion(wire::PROTOCOL_VERSION);
  write_identity(self_, request.initSelf());
  write_task_name(peer_, request.initExpected());
  return request.send().then(
      [this](capnp::Response<wire::Task::ConnectResults> hello) { welcome(hello); });
}

void PeerLink::welcome(Hello hello) {
  const Status status = read_status(hello.getStatus());
  if (!status.ok()) return fail({status.code, name() + " refused the connection: " + status.message});
  inbox_ = hello.getInbox();
  disconnected_ = rpc_->network.onDisconnect()
                      .then([this] {
                        fail({Code::unavailable, "lost the connection to " + name()});
                      })
                      .eagerlyEvaluate(core_.loop.or_lost("telling of a lost connection"));
  const TaskIdentity identity = read_identity(hello.getSelf());
  notify([&] { events_.up(identity); });
  pump();
  bulk_->start(hello.getBulk(), *rpc_);
}

void PeerLink::pump() {
  if (inbox_ == nullptr || draining_) return;
  draining_ = true;
  auto sent = kj::evalNow([this] { return pump_all(); });
  sending_ =
      sent.then([this] { finish_if_closed(); }).eagerlyEvaluate([this](kj::Exception&& exception) {
        const Status why = status_of(exception);
        fail({why.code, "lost the connection to " + name() + ": " + why.message});
      });
}

kj::Promise<void> PeerLink::pump_all() {
  const auto batch = outbox_.take_control();
  if (batch.empty()) {
    draining_ = false;
    return kj::READY_NOW;
  }
  return deliver(batch).then([this] { return pump_all(); });
}

kj::Promise<void> PeerLink::deliver(const std::vector<ControlMessage>& batch) {
  // One segment: a reader looks up any further segment for each pointer into it.
  std::size_t bytes = 0;
  for (const auto& message : batch) bytes += message.size_bytes;
  auto delivery =
      kj::heap<capnp::MallocMessageBuilder>(static_cast<unsigned>(bytes / sizeof(capnp::word)) + 16);
  auto envelopes =
      delivery->initRoot<wire::Delivery>().initEnvelopes(static_cast<unsigned>(batch.size()));
  TensorWriter tensors(delivery->getOrphanage(), *rpc_->stream.keeper(), rpc_->next_transfer,
                       only_inline);
  try {
    for (unsigned i = 0; i < envelopes.size(); ++i) {
      write(batch[i].message, tensors, envelopes[i]);
      envelopes[i].setAfterBulk(batch[i].after_bulk);
    }
    throw_if_error(check_size({delivery->sizeInWords(), 0}));
  } catch (...) {
    // Later: fail() destroys the promise in which this runs.
    core_.loop.later([self = shared_from_this(), status = current_writing_status()] {
      self->fail({status.code, "cannot send to " + self->name() + ": " + status.message});
    });
    return kj::NEVER_DONE;
  }
  auto written = rpc_->stream.deliver(delivery->getSegmentsForOutput());
  return written.attach(kj::mv(delivery));
}

// Writes the message, or if it cannot be written its replacement, which fails the step.
void PeerLink::write(const Message& message, TensorWriter& tensors, wire::Envelope::Builder to) const {
  try {
    write_message(message, tensors, to);
  } catch (...) {
    Status reason = current_writing_status();
    reason.message = "cannot send to " + name() + ": " + reason.message;
    const auto other = in_place_of(to.asReader(), reason);
    if (!other) throw;
    core_.options.on_warning(reason.message);
    write_message(*other, tensors, to);
  }
}

// Only a link that has something to deliver is kept for it: of a task that is not there, the links of
// many tries would be.
void PeerLink::close(std::function<void()> released) {
  closed_ = true;
  released_ = std::move(released);
  core_.loop.later([self = shared_from_this()] {
    if (self->down_ || (self->outbox_.idle() && self->inbox_ == nullptr)) return self->release();
    self->core_.loop.spawn(self->core_.loop.timer()
                               .afterDelay(self->core_.options.linger_ms * kj::MILLISECONDS)
                               .then([self] { self->release(); }));
    self->finish_if_closed();
  });
}

void PeerLink::finish_if_closed() {
  if (closed_ && !finishing_ && inbox_ != nullptr && outbox_.idle()) finish();
}

// Waits until the peer has taken everything.
void PeerLink::finish() {
  finishing_ = true;
  auto request = KJ_ASSERT_NONNULL(inbox_).doneRequest();
  request.setAfterBulk(outbox_.bulk_messages());
  core_.loop.spawn(
      request.send().ignoreResult().catch_([](kj::Exception&&) {}).then([self = shared_from_this()] {
        self->release();
      }));
}

void PeerLink::fail(Status status) {
  if (std::exchange(down_, true)) return;
  outbox_.close();
  notify([&] { events_.down(status); });
  core_.loop.later([self = shared_from_this()] { self->release(); });
}

void PeerLink::release() {
  down_ = true;
  outbox_.close();
  // Later: a promise must not be destroyed while it runs.
  core_.loop.later([self = shared_from_this()] {
    self->connecting_ = nullptr;
    self->disconnected_ = nullptr;
    self->sending_ = nullptr;
    self->bulk_->stop();
    self->inbox_ = nullptr;
    self->rpc_ = nullptr;
    if (self->released_) std::exchange(self->released_, nullptr)();
  });
}

void PeerLink::notify(const std::function<void()>& event) {
  if (closed_) return;
  core_.call_back(event);
}

}  // namespace actorflow
