#include "schema/rpc/rpc_core.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "dataflow/values/error.h"
#include "dataflow/values/exception_status.h"
#include "schema/address.h"

namespace actorflow {
namespace {

kj::Own<kj::NetworkAddress> peer_address(IoLoop& loop, kj::AsyncIoStream& stream) {
  sockaddr_storage address{};
  kj::uint size = sizeof address;
  stream.getpeername(reinterpret_cast<sockaddr*>(&address), &size);
  return loop.network().getSockaddr(&address, size);
}

}  // namespace

void RpcCore::call_back(const std::function<void()>& callback) {
  bool begun = false;
  const auto make = [&] {
    options.dispatch([&] {
      begun = true;
      callback();
    });
  };
  KJ_IF_MAYBE (exception, kj::runCatchingExceptions(make)) {
    if (!begun) return loop.lost("telling what has happened", *exception);
    options.on_warning(std::string("a handler failed: ") + exception->getDescription().cStr());
  }
}

wire::Task::Client RpcEnd::task() {
  capnp::MallocMessageBuilder message(8);
  auto server = message.initRoot<capnp::rpc::twoparty::VatId>();
  server.setSide(Side::SERVER);
  return system.bootstrap(server).castAs<wire::Task>();
}

void keep_alive(kj::AsyncIoStream& tcp) {
  const auto set = [&tcp](int level, int option, int value) {
    tcp.setsockopt(level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);  // seconds
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

kj::Promise<kj::Own<kj::AsyncIoStream>> secure_call(IoLoop& loop, kj::Own<kj::AsyncIoStream> socket,
                                                    const CallSecurity& security) {
  if (!security.tls) return kj::mv(socket);
  return TlsStream::call(loop.events(), *security.tls, *socket, security.expected, security.refusal)
      .then([](kj::Own<TlsStream> stream) -> kj::Own<kj::AsyncIoStream> { return kj::mv(stream); });
}

kj::Promise<kj::Own<RpcEnd>> call_task(IoLoop& loop, const std::string& address, CallSecurity security) {
  const std::string checked = Address::parse(address).to_string();
  return loop.network()
      .parseAddress(checked.c_str())
      .then([](kj::Own<kj::NetworkAddress> found) {
        auto connected = found->connect();
        return connected.attach(kj::mv(found));
      })
      .then([&loop, security](kj::Own<kj::AsyncIoStream> socket) {
        keep_alive(*socket);
        auto peer = peer_address(loop, *socket);
        return secure_call(loop, kj::mv(socket), security)
            .then([security, peer = kj::mv(peer)](kj::Own<kj::AsyncIoStream> io) mutable {
              auto rpc = kj::heap<RpcEnd>(kj::mv(io), std::move(security));
              rpc->peer_address = kj::mv(peer);
              return rpc;
            });
      });
}

// kj says OVERLOADED for exhausted resources, and for a connection that timed out.
Status status_of(const kj::Exception& exception) {
  const std::string text = exception.getDescription().cStr();
  const bool exhausted = exception.getType() == kj::Exception::Type::OVERLOADED &&
                         text.find(std::strerror(ETIMEDOUT)) == std::string::npos;
  return {exhausted ? Code::resource_exhausted : Code::unavailable, text};
}

Status current_writing_status() {
  try {
    throw;
  } catch (const kj::Exception& exception) {
    const Status status = status_of(exception);
    return {status.code == Code::unavailable ? Code::internal : status.code, status.message};
  } catch (...) {
    return current_exception_status();
  }
}

Status check_version(std::uint32_t theirs) {
  if (theirs == wire::PROTOCOL_VERSION) return {};
  return {Code::failed_precondition,
          "this task speaks protocol version " + std::to_string(wire::PROTOCOL_VERSION) +
              ", the caller version " + std::to_string(theirs) + "; run the same release everywhere"};
}

Status check_size(capnp::MessageSize size) {
  // Room for what the RPC itself adds, which is small.
  constexpr std::size_t envelope_bytes = 64 << 10;
  const std::uint64_t bytes = size.wordCount * sizeof(capnp::word);
  if (bytes + envelope_bytes <= GuardedStream::max_message_bytes) return {};
  return {Code::resource_exhausted, "a message of " + std::to_string(bytes) +
                                        " bytes, not counting large tensors, is over the limit of " +
                                        std::to_string(GuardedStream::max_message_bytes) + " bytes"};
}

}  // namespace actorflow
