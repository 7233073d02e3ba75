// A socket that both ends have authenticated, and that nobody else can read. Internal to schema/:
// includes kj and OpenSSL.
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

// Works on the socket itself: records of 16 KiB are decrypted where they have been read and copied to
// where they are wanted, without a stream's buffers in between.
class TlsStream final : public kj::AsyncIoStream {
 public:
  // Why it is of no use to try again, in words that follow the peer's name; "" where it may be. A caller
  // may learn only after the handshake, with the first read, that the other end has refused it.
  using Refusal = std::shared_ptr<std::string>;

  // Begin the handshake, as the end that called `expected` (nothing: any task), or as the one that
  // answers. `socket` may go afterwards; it must not be used any more but to read and drop what a
  // refused peer has sent.
  static kj::Promise<kj::Own<TlsStream>> call(kj::UnixEventPort& events, const TlsContext& context,
                                              kj::AsyncIoStream& socket, const Holder& expected,
                                              Refusal refusal);
  static kj::Promise<kj::Own<TlsStream>> answer(kj::UnixEventPort& events, const TlsContext& context,
                                                kj::AsyncIoStream& socket, Refusal refusal);
  // For these two.
  TlsStream(kj::UnixEventPort& events, const TlsContext& context, kj::AsyncIoStream& socket,
            Refusal refusal);
  ~TlsStream() noexcept(false);

  // What the peer's certificate says of it: "actorflow:/job:ps/task:0".
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

  // What is being written.
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
