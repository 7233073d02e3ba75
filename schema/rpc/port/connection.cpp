#include "schema/rpc/port/connection.h"

#include <kj/debug.h>

#include <algorithm>

#include "schema/codec/message_codec.h"
#include "schema/codec/message_size.h"
#include "schema/rpc/port/peer_server.h"

namespace actorflow {

Connection::Connection(PeerServer& accepted_by, std::uint64_t number)
    : server(accepted_by),
      id(number),
      transfers(accepted_by.core().allocator, accepted_by.core().options.max_incoming_bytes),
      order(accepted_by.core().options.max_incoming_bytes) {}

bool Connection::may_be(const TaskName& task) const {
  return server.core().keys.empty() || std::ranges::find(names, holder_name(task)) != names.end();
}

std::string Connection::who() const {
  if (peer) return peer->name.to_string();
  const std::string name = names.empty() ? "an unknown peer" : names.front();
  return address.empty() ? name : name + " at " + address;
}

void Connection::trust() {
  server.welcome(*this);
  rpc->stream.trust(
      [this](capnp::MessageReader& message) { receive(message.getRoot<wire::Delivery>()); });
}

// A bad delivery closes the connection, and throws, so that nothing more is read.
void Connection::receive(wire::Delivery::Reader delivery) {
  KJ_REQUIRE(open, "the connection has been closed");
  auto& core = server.core();
  core.loop.traffic();
  TensorReader tensors(core.allocator, transfers);
  try {
    if (!peer) throw invalid_argument("a client sent messages, which only tasks send");
    core.options.dispatch([&] {
      for (const auto envelope : delivery.getEnvelopes()) {
        receive_after(envelope.getAfterBulk(), read_message(envelope, tensors, core.ops));
        if (!open) return;
      }
    });
  } catch (const std::exception& error) {
    server.drop(*this, error.what());
    throw;
  }
}

void Connection::receive_after(std::uint64_t bulk_messages, Message message) {
  if (order.reached(bulk_messages)) return hand_over(std::move(message));
  // `order` belongs to this connection: a shared_ptr to it would be a cycle.
  const std::size_t size = estimated_bytes(message);
  order.run_after(bulk_messages, size,
                  [this, message = std::move(message)]() mutable { hand_over(std::move(message)); });
}

void Connection::receive_bulk(Message message) {
  auto& core = server.core();
  core.loop.traffic();
  core.options.dispatch([&] {
    hand_over(std::move(message));
    order.advance();
  });
}

void Connection::hand_over(Message&& message) {
  if (open) server.inbox().received(*peer, std::move(message));
}

}  // namespace actorflow
