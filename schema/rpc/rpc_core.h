// The shared state of the links and listeners of an RPC network. Internal to schema/: includes Cap'n
// Proto.
#pragma once

#include <capnp/rpc-twoparty.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "schema/io/guarded_stream.h"
#include "schema/io/io_loop.h"
#include "schema/io/read_ahead.h"
#include "schema/io/shared_memory.h"
#include "schema/rpc/rpc_network.h"
#include "schema/tls/key_ring.h"
#include "schema/tls/tls_stream.h"
#include "schema/worker.capnp.h"

namespace actorflow {

// Counts links that still have something to deliver.
class Lingering {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// The shared state. It lives as long as the network or any of its links and listeners.
struct RpcCore {
  RpcCore(const OpRegistry& known_ops, Allocator& memory, RpcOptions chosen)
      : ops(known_ops),
        allocator(memory),
        options(std::move(chosen)),
        arena(options.shared_memory_bytes > 0 ? SharedArena::create(options.shared_memory_bytes)
                                              : nullptr),
        keys(options.credentials, options.on_warning),
        loop(options.on_warning, options.spin_us, options.on_lost) {}
  ~RpcCore() { lingering.wait(); }

  // Makes a callback of a link or listener, for the loop's thread. What it throws is a warning; if it
  // cannot even begin, the process is lost, since others rely on it.
  void call_back(const std::function<void()>& callback);

  const OpRegistry& ops;
  Allocator& allocator;
  const RpcOptions options;
  const std::shared_ptr<SharedArena> arena;  // null: nothing is shared
  KeyRing keys;
  Lingering lingering;
  IoLoop loop;
};

// The credentials of a caller, and the holder that it accepts at the other end.
struct CallSecurity {
  std::shared_ptr<const TlsContext> tls;  // null: plain connections
  Holder expected;                        // nothing: any task
  // The reason why retrying is useless; "" while there is none.
  TlsStream::Refusal refusal = std::make_shared<std::string>();
};
// The socket itself without credentials, otherwise TLS on it.
kj::Promise<kj::Own<kj::AsyncIoStream>> secure_call(IoLoop& loop, kj::Own<kj::AsyncIoStream> socket,
                                                    const CallSecurity& security);

// One end of a connection: Cap'n Proto's RPC over a guarded stream. For the loop's thread.
struct RpcEnd {
  using Side = capnp::rpc::twoparty::Side;

  // The end that was called; offers `bootstrap`. The first 8 bytes have been read. `progress` is called
  // for parts of messages.
  RpcEnd(kj::Own<kj::AsyncIoStream> io, GuardedStream::Head head, capnp::Capability::Client bootstrap,
         std::function<void()> progress)
      : stream(kj::heap<ReadAhead>(kj::mv(io), std::move(progress)), false, head),
        network(stream, Side::SERVER),
        system(capnp::makeRpcServer(network, kj::mv(bootstrap))) {
    limit_calls();
  }
  // The end that called.
  RpcEnd(kj::Own<kj::AsyncIoStream> io, CallSecurity with)
      : stream(kj::heap<ReadAhead>(kj::mv(io)), with.refusal),
        network(stream, Side::CLIENT),
        system(capnp::makeRpcClient(network)),
        security(std::move(with)) {
    limit_calls();
  }

  // The interface of the other end.
  wire::Task::Client task();

  GuardedStream stream;
  capnp::TwoPartyVatNetwork network;
  capnp::RpcSystem<capnp::rpc::twoparty::VatId> system;
  std::uint64_t next_transfer = 0;
  // Of the end that called, for its bulk connection:
  CallSecurity security;
  kj::Own<kj::NetworkAddress> peer_address;

 private:
  // Stops reading while the parameters of calls under way exceed the size of two messages.
  void limit_calls() { system.setFlowLimit(2 * GuardedStream::max_message_bytes / sizeof(capnp::word)); }
};

// Turns on keep-alive, which notices a vanished machine within about a minute.
void keep_alive(kj::AsyncIoStream& tcp);

// A TCP connection to "host:port", without delays for small packets (kj sees to that).
kj::Promise<kj::Own<RpcEnd>> call_task(IoLoop& loop, const std::string& address, CallSecurity security);

// The promise; it fails if it takes longer.
template <class T>
kj::Promise<T> answer_within(std::int64_t limit_ms, kj::Timer& timer, kj::Promise<T> answer) {
  auto late = timer.afterDelay(limit_ms * kj::MILLISECONDS).then([limit_ms]() -> kj::Promise<T> {
    return kj::Exception(kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__,
                         kj::str("no answer within ", limit_ms, " ms"));
  });
  return answer.exclusiveJoin(kj::mv(late));
}

// Why a connection is not made, or ends, when `exception` ends its work: unavailable, or
// resource_exhausted if this process had not the memory or the descriptors for it.
Status status_of(const kj::Exception& exception);
// Why a message could not be written: as current_exception_status(), and for kj's exceptions, too.
// REQUIRES: called in a catch block.
Status current_writing_status();
// Ok if the peer has our version, else failed_precondition that names both.
Status check_version(std::uint32_t theirs);
// Ok if a message under construction can be sent, else resource_exhausted that names size and limit.
Status check_size(capnp::MessageSize size);

}  // namespace actorflow
