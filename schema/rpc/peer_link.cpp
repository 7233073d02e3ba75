#include "schema/rpc/peer_link.h"

#include "schema/codec/message_codec.h"
#include "schema/codec/transfer.h"

namespace actorflow {
namespace {

// What goes out in one call.
constexpr std::size_t batch_bytes = std::size_t{1} << 20;
constexpr std::size_t batch_messages = 1024;

}  // namespace

void PeerLink::send(Message message) {
  {
    const std::lock_guard lock(mutex_);
    if (down_) return;
    queue_.push_back(std::move(message));
    if (pumping_) return;
    pumping_ = true;
  }
  core_.loop.post([self = shared_from_this()] { self->pump(); });
}

void PeerLink::start() {
  const auto limit_ms = core_.options.handshake_timeout_ms;
  auto opened = kj::evalNow([&] {
    return call_task(core_.loop, address_).then([this](kj::Own<RpcEnd> rpc) {
      return introduce(kj::mv(rpc));
    });
  });
  connecting_ =
      core_.loop.timer()
          .timeoutAfter(limit_ms * kj::MILLISECONDS, kj::mv(opened))
          .catch_([this, limit_ms](kj::Exception&& exception) {
            const bool late = exception.getType() == kj::Exception::Type::OVERLOADED;
            fail({Code::unavailable, "cannot reach " + name() + ": " +
                                         (late ? "no answer within " + std::to_string(limit_ms) + " ms"
                                               : std::string(exception.getDescription().cStr()))});
          })
          .eagerlyEvaluate(nullptr);
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
                      .eagerlyEvaluate(nullptr);
  const TaskIdentity identity = read_identity(hello.getSelf());
  notify([&] { events_.up(identity); });
  pump();
}

void PeerLink::pump() {
  if (inbox_ == nullptr || draining_) return;
  draining_ = true;
  sending_ = pump_all()
                 .then([this] {
                   if (closed_) finish();
                 })
                 .eagerlyEvaluate([this](kj::Exception&& exception) {
                   fail({Code::unavailable,
                         "lost the connection to " + name() + ": " + exception.getDescription().cStr()});
                 });
}

kj::Promise<void> PeerLink::pump_all() {
  const auto batch = take_batch();
  if (batch.empty()) {
    draining_ = false;
    return kj::READY_NOW;
  }
  return deliver(batch).then([this] { return pump_all(); });
}

std::vector<Message> PeerLink::take_batch() {
  std::vector<Message> batch;
  std::size_t bytes = 0;
  const std::lock_guard lock(mutex_);
  while (!queue_.empty() && batch.size() < batch_messages) {
    bytes += estimated_bytes(queue_.front());
    if (!batch.empty() && bytes > batch_bytes) break;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  pumping_ = !batch.empty();
  return batch;
}

kj::Promise<void> PeerLink::deliver(const std::vector<Message>& batch) {
  auto& inbox = KJ_ASSERT_NONNULL(inbox_);
  auto request = inbox.deliverRequest();
  auto envelopes = request.initEnvelopes(static_cast<unsigned>(batch.size()));
  TensorWriter tensors(capnp::Orphanage::getForMessageContaining(envelopes), *rpc_->stream.keeper(),
                       rpc_->next_transfer);
  Status status;
  try {
    for (unsigned i = 0; i < envelopes.size(); ++i) write_message(batch[i], tensors, envelopes[i]);
    status = check_size(request.totalSize());
  } catch (const Error& error) {
    status = error.status();
  }
  if (!status.ok()) {
    fail({status.code, "cannot send to " + name() + ": " + status.message});
    return kj::NEVER_DONE;
  }
  auto transfers = tensors.take_transfers();
  if (transfers.empty()) return request.send();
  return send_transfers(std::move(transfers), inbox, rpc_->stream.keeper())
      .then([request = kj::mv(request)]() mutable { return request.send(); });
}

void PeerLink::close(std::function<void()> released) {
  closed_ = true;
  released_ = std::move(released);
  core_.loop.spawn(core_.loop.timer()
                       .afterDelay(core_.options.linger_ms * kj::MILLISECONDS)
                       .then([self = shared_from_this()] { self->release(); }));
  const std::lock_guard lock(mutex_);
  if (down_ || (!pumping_ && inbox_ == nullptr))
    core_.loop.later([self = shared_from_this()] { self->release(); });
  else if (!pumping_)
    core_.loop.later([self = shared_from_this()] { self->finish(); });
}

// Waits until the peer has taken everything.
void PeerLink::finish() {
  KJ_IF_MAYBE (inbox, inbox_) {
    core_.loop.spawn(inbox->doneRequest()
                         .send()
                         .ignoreResult()
                         .catch_([](kj::Exception&&) {})
                         .then([self = shared_from_this()] { self->release(); }));
  }
}

void PeerLink::fail(Status status) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(down_, true)) return;
    queue_.clear();
  }
  notify([&] { events_.down(status); });
  core_.loop.later([self = shared_from_this()] { self->release(); });
}

void PeerLink::release() {
  {
    const std::lock_guard lock(mutex_);
    down_ = true;
    queue_.clear();
  }
  // Not from inside of one of these promises: only by later().
  core_.loop.later([self = shared_from_this()] {
    self->connecting_ = nullptr;
    self->disconnected_ = nullptr;
    self->sending_ = nullptr;
    self->inbox_ = nullptr;
    self->rpc_ = nullptr;
    if (self->released_) std::exchange(self->released_, nullptr)();
  });
}

void PeerLink::notify(const std::function<void()>& event) {
  if (closed_) return;
  try {
    event();
  } catch (const std::exception& error) {
    core_.options.on_warning(std::string("a handler failed: ") + error.what());
  }
}

}  // namespace actorflow
