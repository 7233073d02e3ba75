// A TLS connection, authenticated at both ends. Internal to schema/: includes kj and OpenSSL.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "schema/file_descriptor.h"
#include "schema/tls/tls_context.h"
#include "schema/tls/verify.h"

namespace actorflow {

// Works on the socket itself: records of 16 KiB are decrypted in place and copied to their destination,
// without the buffers of a stream in between.
class TlsStream final : public kj::AsyncIoStream {
 public:
  // The reason why retrying is useless, as words that follow the peer's name; "" if it may help. A
  // caller may learn only after the handshake, with the first read, that the other end has refused it.
  using Refusal = std::shared_ptr<std::string>;

  // Make a stream by a handshake, as the end that calls `expected` (nothing: any task), or as the end
  // that answers. `socket` may be destroyed afterwards; it may only be used to read and drop what a
  // refused peer has sent.
  static kj::Promise<kj::Own<TlsStream>> call(kj::UnixEventPort& events, const TlsContext& context,
                                              kj::AsyncIoStream& socket, const Holder& expected,
                                              Refusal refusal);
  static kj::Promise<kj::Own<TlsStream>> answer(kj::UnixEventPort& events, const TlsContext& context,
                                                kj::AsyncIoStream& socket, Refusal refusal);
  // Used by call() and answer().
  TlsStream(kj::UnixEventPort& events, const TlsContext& context, kj::AsyncIoStream& socket,
            Refusal refusal);
  ~TlsStream() noexcept(false);

  // The peer's names in its certificate: "actorflow:/job:ps/task:0".
  std::vector<std::string> peer_names() const;

  kj::Promise<std::size_t> tryRead(void* buffer, std::size_t min_bytes, std::size_t max_bytes) override;
  kj::Promise<void> write(const void* buffer, std::size_t size) override;
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override;
  kj::Promise<void> whenWriteDisconnected() override { return observer_.whenWriteDisconnected(); }
  void shutdownWrite() override;
  void abortRead() override;

 private:
  static kj::Promise<kj::Own<TlsStream>> begin(kj::Own<TlsStream> stream);

  kj::Promise<void> handshake();
  kj::Promise<std::size_t> read_more(std::byte* to, std::size_t min_bytes, std::size_t max_bytes,
                                     std::size_t done);
  kj::Promise<void> write_more();
  bool next_slice();
  void gather();
  [[noreturn]] void fail(int error);

  // The data that is being written.
  struct Writing {
    kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces;
    std::size_t index = 0, offset = 0;  // of what comes after the slice
    kj::ArrayPtr<const kj::byte> slice;
  };

  const FileDescriptor socket_;
  kj::UnixEventPort::FdObserver observer_;
  const std::string own_;
  PeerCheck check_;
  const SslPtr ssl_;
  const Refusal refusal_;
  bool broken_ = false;
  Writing writing_;
  kj::ArrayPtr<const kj::byte> single_piece_;
  std::vector<kj::byte> record_;  // small pieces, for one record
};

}  // namespace actorflow
