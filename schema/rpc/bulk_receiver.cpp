#include "schema/rpc/bulk_receiver.h"

#include <fcntl.h>

#include <algorithm>
#include <new>
#include <optional>

#include "schema/codec/message_codec.h"
#include "schema/codec/transfer.h"
#include "schema/rpc/bulk_connection.h"

namespace actorflow {
namespace {

FileDescriptor duplicate(kj::AsyncIoStream& stream) {
  KJ_IF_MAYBE (fd, stream.getFd()) {
    return FileDescriptor(fcntl(*fd, F_DUPFD_CLOEXEC, 0));
  }
  return FileDescriptor();
}

// The text of the exception, without the prefix that kj gives to exceptions of other types.
std::string description(const kj::Exception& exception) {
  constexpr std::string_view prefix = "std::exception: ";
  const std::string_view text = exception.getDescription().cStr();
  return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

// Runs `body`. Returns resource_exhausted if there was no memory for it.
template <class Body>
Status unless_out_of_memory(Body&& body) {
  try {
    body();
    return {};
  } catch (const Error& error) {
    if (error.code() != Code::resource_exhausted) throw;
    return error.status();
  } catch (const std::bad_alloc&) {
    return {Code::resource_exhausted, "out of memory"};
  }
}

}  // namespace

// A message whose payloads come one after another.
struct BulkReceiver::Incoming {
  Incoming(kj::Own<capnp::MessageReader> reader, Allocator& allocator)
      : message(kj::mv(reader)),
        frame(message->getRoot<wire::BulkFrame>()),
        payloads(frame.getPayloads()),
        transfers(allocator, 0) {}

  kj::Own<capnp::MessageReader> message;
  wire::BulkFrame::Reader frame;
  capnp::List<wire::BulkFrame::Payload>::Reader payloads;  // kept: a lookup counts as reading all
  unsigned next = 0;
  TransferReceiver transfers;
  IncomingBudget::Room room;
  Status failure;  // why the rest is skipped
};

BulkReceiver::BulkReceiver(RpcCore& core, kj::Own<kj::AsyncIoStream> stream,
                           std::shared_ptr<const SharedView> view, IncomingBudget::Share share,
                           Events events)
    : core_(core),
      stream_(kj::mv(stream), true),
      view_(std::move(view)),
      share_(std::move(share)),
      events_(std::move(events)),
      leases_(std::make_shared<Leases>(core.loop, [this] { return_payloads(); })) {
  if (view_) leases_->hold(duplicate(stream_.bytes()));
}

void BulkReceiver::start() {
  reading_ = kj::evalNow([this] {
               return welcome();
             }).then([this] {
                 return read_messages();
               }).eagerlyEvaluate([this](kj::Exception&& exception) {
    events_.failed(description(exception));
  });
}

kj::Promise<void> BulkReceiver::welcome() {
  static constexpr std::uint64_t accepted = 0;
  return stream_.bytes().write(&accepted, sizeof accepted).then([this] { welcomed_ = true; });
}

// Reads messages until the connection ends.
kj::Promise<void> BulkReceiver::read_messages() {
  return stream_.MessageStream::tryReadMessage().then(
      [this](kj::Maybe<kj::Own<capnp::MessageReader>> message) -> kj::Promise<void> {
        KJ_IF_MAYBE (it, message) {
          auto incoming = kj::heap<Incoming>(kj::mv(*it), core_.allocator);
          auto& in = *incoming;
          check(in);
          return wait_for_room(in)
              .then([this, &in] { return read_payloads(in); })
              .then([this, &in] { take(in); })
              .attach(kj::mv(incoming))
              .then([this] { return read_messages(); });
        }
        return kj::READY_NOW;
      });
}

void BulkReceiver::check(const Incoming& incoming) const {
  std::size_t left = core_.options.max_incoming_bytes - leases_->bytes();
  for (const auto payload : incoming.payloads) {
    const std::uint64_t size = payload.getSizeBytes();
    if (payload.getNumber() == 0 || size == 0)
      throw invalid_argument("a payload without number or size");
    if (size > left || payload_overhead_bytes > left - size)
      throw Error(Code::resource_exhausted,
                  "a tensor of " + std::to_string(size) + " bytes was announced, but only " +
                      std::to_string(left) + " of the peer's limit of " +
                      std::to_string(core_.options.max_incoming_bytes) + " bytes are left");
    left -= size + payload_overhead_bytes;
  }
}

// Until then the payloads stay with the sender and in the socket. A refusal is the message's failure.
kj::Promise<void> BulkReceiver::wait_for_room(Incoming& incoming) {
  std::size_t bytes = 0;
  for (const auto payload : incoming.payloads) bytes += payload.isPlace() ? 0 : payload.getSizeBytes();
  if (bytes == 0) return kj::READY_NOW;
  return share_.ask(bytes).then([&incoming](IncomingBudget::Grant grant) {
    incoming.room = std::move(grant.room);
    incoming.failure = std::move(grant.status);
  });
}

kj::Promise<void> BulkReceiver::read_payloads(Incoming& incoming) {
  while (incoming.next < incoming.payloads.size()) {
    const auto payload = incoming.payloads[incoming.next++];
    const std::uint64_t number = payload.getNumber(), size = payload.getSizeBytes();
    BufferRef room;
    if (!payload.isPlace() && incoming.failure.ok())
      incoming.failure =
          unless_out_of_memory([&] { room = incoming.room.take(core_.allocator.allocate(size), size); });
    if (!incoming.failure.ok()) {
      leases_->decline(number, size);
      if (payload.isPlace()) continue;
      return skip(size).then([this, &incoming] { return read_payloads(incoming); });
    }
    if (payload.isPlace()) {
      if (!view_) throw invalid_argument("a place in shared memory, but there is none");
      incoming.transfers.add(number, {leases_->lend(number, size, view_, payload.getPlace()), size});
      continue;
    }
    const BufferRef to = leases_->lend(number, size, std::move(room));
    incoming.transfers.add(number, {to, size});
    return read_parts(to, 0).then([this, &incoming] { return read_payloads(incoming); });
  }
  return kj::READY_NOW;
}

kj::Promise<void> BulkReceiver::read_parts(const BufferRef& to, std::size_t offset) {
  const std::size_t size = std::min(bulk_part_bytes, to->size_bytes() - offset), end = offset + size;
  auto read = stream_.bytes().read(static_cast<std::byte*>(to->data()) + offset, size);
  if (end == to->size_bytes()) return read.attach(BufferRef(to));
  return read.then([this] { return after_poll(core_.loop); }).then([this, to, end] {
    return read_parts(to, end);
  });
}

// Reads and drops a payload for which there is no room.
kj::Promise<void> BulkReceiver::skip(std::size_t bytes) {
  if (bytes == 0) return kj::READY_NOW;
  skipped_.resize(bulk_part_bytes);
  const std::size_t part = std::min(bulk_part_bytes, bytes);
  return stream_.bytes()
      .read(skipped_.data(), part)
      .then([this] { return after_poll(core_.loop); })
      .then([this, rest = bytes - part] { return skip(rest); });
}

// Hands over the message, or its replacement if there was no memory for it.
void BulkReceiver::take(Incoming& incoming) {
  std::optional<Message> message;
  const auto envelope = incoming.frame.getEnvelope();
  if (incoming.failure.ok())
    incoming.failure = unless_out_of_memory([&] {
      TensorReader tensors(core_.allocator, incoming.transfers);
      message = read_message(envelope, tensors, core_.ops);
    });
  if (Status& failure = incoming.failure; !failure.ok()) {
    failure.message = "no room for what another task sends: " + failure.message;
    core_.options.on_warning(failure.message);
    message = in_place_of(envelope, failure);
    throw_if_error(message ? Status() : failure);
  }
  events_.received(std::move(*message));
}

void BulkReceiver::return_payloads() {
  share_.released();
  if (!welcomed_ || std::exchange(returning_, true)) return;
  auto written = kj::evalNow([this] { return write_returned(); });
  writing_ = written.eagerlyEvaluate([this](kj::Exception&& exception) {
    sender_gone_ = true;
    if (all_returned_.get() != nullptr) all_returned_->fulfill();
    // A sender that is there would wait for these numbers.
    if (exception.getType() != kj::Exception::Type::DISCONNECTED && events_.failed)
      events_.failed(description(exception));
  });
}

kj::Promise<void> BulkReceiver::write_returned() {
  auto numbers = kj::heap(leases_->take_returned());
  if (!numbers->empty()) {
    auto written = stream_.bytes().write(numbers->data(), numbers->size() * sizeof(std::uint64_t));
    return written.attach(kj::mv(numbers)).then([this] { return write_returned(); });
  }
  returning_ = false;
  if (all_returned_.get() != nullptr && leases_->empty()) all_returned_->fulfill();
  return kj::READY_NOW;
}

void BulkReceiver::stop() {
  events_ = {};
  reading_ = nullptr;
  if (!view_ || sender_gone_ || leases_->empty()) return;
  auto all_returned = kj::newPromiseAndFulfiller<void>();
  all_returned_ = kj::mv(all_returned.fulfiller);
  core_.loop.spawn(all_returned.promise.attach(shared_from_this()));
}

}  // namespace actorflow
