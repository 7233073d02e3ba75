#include "schema/rpc/port/incoming_connection.h"

#include <kj/debug.h>

#include "schema/address.h"
#include "schema/tls/tls_record.h"

namespace actorflow {
namespace {

// From here on nothing is read that has not come through TLS.
kj::Promise<void> secure(IoLoop& loop, const TlsContext* tls, IncomingConnection& incoming) {
  if (!tls || incoming.local) {
    incoming.io = kj::mv(incoming.socket);
    return kj::READY_NOW;
  }
  return TlsStream::answer(loop.events(), *tls, *incoming.socket, incoming.refusal)
      .then([&incoming](kj::Own<TlsStream> stream) {
        incoming.names = stream->peer_names();
        incoming.io = kj::mv(stream);
      });
}

kj::Promise<void> read_head(IncomingConnection& incoming) {
  auto& head = incoming.head;
  if (!incoming.local) return incoming.io->read(head.data(), sizeof head);
  auto& stream = dynamic_cast<kj::AsyncCapabilityStream&>(*incoming.io);
  return stream.tryReadWithFds(head.data(), sizeof head, sizeof head, &incoming.file, 1)
      .then([](kj::AsyncCapabilityStream::ReadResult result) {
        KJ_REQUIRE(result.byteCount == sizeof(GuardedStream::Head));
      });
}

// Reads what the peer has sent before its socket is closed: otherwise TCP may reset the connection and
// drop our last words.
kj::Promise<void> read_rest(kj::AsyncIoStream& socket, std::size_t most_bytes) {
  auto dropped = kj::heapArray<kj::byte>(4096);
  auto read = socket.tryRead(dropped.begin(), 1, dropped.size());
  return read.attach(kj::mv(dropped)).then([&socket, most_bytes](std::size_t size) -> kj::Promise<void> {
    if (size == 0 || size >= most_bytes) return kj::READY_NOW;
    return read_rest(socket, most_bytes - size);
  });
}

kj::Promise<std::string> send_off(IoLoop& loop, kj::AsyncIoStream& socket,
                                  kj::ArrayPtr<const kj::byte> last_words, std::string reason) {
  constexpr auto patience = 1 * kj::SECONDS;
  constexpr std::size_t most_bytes = 64 << 10;
  auto left = socket.write(last_words.begin(), last_words.size()).then([&socket] {
    socket.shutdownWrite();
    return read_rest(socket, most_bytes);
  });
  return loop.timer()
      .timeoutAfter(patience, kj::mv(left))
      .catch_([](kj::Exception&&) {})
      .then([reason = std::move(reason)]() mutable { return std::move(reason); });
}

}  // namespace

std::string peer_name(kj::AsyncIoStream& socket) {
  sockaddr_storage address{};
  kj::uint size = sizeof address;
  socket.getpeername(reinterpret_cast<sockaddr*>(&address), &size);
  return Address::of(address).to_string();
}

kj::Promise<std::string> greet(IoLoop& loop, std::shared_ptr<const TlsContext> tls,
                               IncomingConnection& incoming) {
  const bool secured = tls != nullptr;
  auto begun = kj::evalNow([&] { return secure(loop, tls.get(), incoming); }).then([&incoming] {
    return read_head(incoming);
  });
  return begun.then(
      [&loop, &incoming, secured]() -> kj::Promise<std::string> {
        if (secured || incoming.local || !is_tls_record(incoming.head, TlsRecord::handshake))
          return std::string();
        return send_off(loop, *incoming.io, {no_tls_here.data(), no_tls_here.size()},
                        "it speaks TLS, but this task was started without credentials");
      },
      [&loop, &incoming](kj::Exception&& exception) -> kj::Promise<std::string> {
        if (incoming.refusal->empty()) return kj::mv(exception);
        return send_off(loop, *incoming.socket, nullptr, *incoming.refusal);
      });
}

}  // namespace actorflow
