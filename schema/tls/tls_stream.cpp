#include "schema/tls/tls_stream.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "schema/tls/certificate.h"
#include "schema/tls/tls_record.h"

namespace actorflow {
namespace {

constexpr std::size_t record_bytes = SSL3_RT_MAX_PLAIN_LENGTH;

FileDescriptor duplicate(kj::AsyncIoStream& socket) {
  FileDescriptor copy(fcntl(KJ_REQUIRE_NONNULL(socket.getFd()), F_DUPFD_CLOEXEC, 0));
  KJ_REQUIRE(static_cast<bool>(copy), "no file descriptor is left for the connection",
             std::strerror(errno));
  return copy;
}

}  // namespace

kj::Promise<kj::Own<TlsStream>> TlsStream::call(kj::UnixEventPort& events, const TlsContext& context,
                                                kj::AsyncIoStream& socket, const Holder& expected,
                                                Refusal refusal) {
  auto stream = kj::heap<TlsStream>(events, context, socket, std::move(refusal));
  stream->check_.expected = expected;
  SSL_set_connect_state(stream->ssl_.get());
  return begin(kj::mv(stream));
}

kj::Promise<kj::Own<TlsStream>> TlsStream::answer(kj::UnixEventPort& events, const TlsContext& context,
                                                  kj::AsyncIoStream& socket, Refusal refusal) {
  auto stream = kj::heap<TlsStream>(events, context, socket, std::move(refusal));
  SSL_set_accept_state(stream->ssl_.get());
  return begin(kj::mv(stream));
}

kj::Promise<kj::Own<TlsStream>> TlsStream::begin(kj::Own<TlsStream> stream) {
  auto done = kj::evalNow([&] { return stream->handshake(); });
  return done.then([stream = kj::mv(stream)]() mutable { return kj::mv(stream); });
}

TlsStream::TlsStream(kj::UnixEventPort& events, const TlsContext& context, kj::AsyncIoStream& socket,
                     Refusal refusal)
    : socket_(duplicate(socket)),
      observer_(events, socket_.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ_WRITE),
      own_(context.own()),
      ssl_(context.begin(&check_)),
      refusal_(std::move(refusal)) {
  openssl_check(SSL_set_fd(ssl_.get(), socket_.get()) == 1, "taking a socket");
}

// Says goodbye if that takes no waiting.
TlsStream::~TlsStream() noexcept(false) {
  if (!broken_ && SSL_is_init_finished(ssl_.get())) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

std::vector<std::string> TlsStream::peer_names() const {
  const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  return certificate ? actorflow_names(*certificate) : std::vector<std::string>();
}

kj::Promise<void> TlsStream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return kj::READY_NOW;
  switch (const int error = SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return observer_.whenBecomesReadable().then([this] { return handshake(); });
    case SSL_ERROR_WANT_WRITE:
      return observer_.whenBecomesWritable().then([this] { return handshake(); });
    default:
      fail(error);
  }
}

kj::Promise<std::size_t> TlsStream::tryRead(void* buffer, std::size_t min_bytes, std::size_t max_bytes) {
  return kj::evalNow(
      [&] { return read_more(static_cast<std::byte*>(buffer), min_bytes, max_bytes, 0); });
}

kj::Promise<std::size_t> TlsStream::read_more(std::byte* to, std::size_t min_bytes,
                                              std::size_t max_bytes, std::size_t done) {
  // What has come is taken; to ask the system for more than was wanted would cost a call.
  while (done < min_bytes || (done < max_bytes && SSL_has_pending(ssl_.get()))) {
    std::size_t size = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), to + done, max_bytes - done, &size);
    done += size;
    if (result == 1) continue;
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_ZERO_RETURN) return done;
    if (error != SSL_ERROR_WANT_READ) fail(error);
    if (done >= min_bytes) return done;
    return observer_.whenBecomesReadable().then(
        [=, this] { return read_more(to, min_bytes, max_bytes, done); });
  }
  return done;
}

kj::Promise<void> TlsStream::write(const void* buffer, std::size_t size) {
  single_piece_ = {static_cast<const kj::byte*>(buffer), size};
  return write({&single_piece_, 1});
}

kj::Promise<void> TlsStream::write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) {
  writing_ = {pieces, 0, 0, nullptr};
  return kj::evalNow([this] { return write_more(); });
}

kj::Promise<void> TlsStream::write_more() {
  auto& slice = writing_.slice;
  while (slice.size() > 0 || next_slice()) {
    std::size_t size = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), slice.begin(), slice.size(), &size);
    if (result == 1) {
      slice = slice.slice(size, slice.size());
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), result);
    if (error != SSL_ERROR_WANT_WRITE) fail(error);
    return observer_.whenBecomesWritable().then([this] { return write_more(); });
  }
  return kj::READY_NOW;
}

// A large piece as it is, or what comes next as one record. False at the end.
bool TlsStream::next_slice() {
  auto& [pieces, index, offset, slice] = writing_;
  while (index < pieces.size() && offset == pieces[index].size()) ++index, offset = 0;
  if (index == pieces.size()) return false;
  const auto rest = pieces[index].slice(offset, pieces[index].size());
  if (rest.size() < record_bytes && index + 1 < pieces.size()) {
    gather();
  } else {
    slice = rest;
    ++index;
    offset = 0;
  }
  return true;
}

void TlsStream::gather() {
  auto& [pieces, index, offset, slice] = writing_;
  record_.clear();
  while (index < pieces.size() && record_.size() < record_bytes) {
    const auto& piece = pieces[index];
    const std::size_t size = std::min(record_bytes - record_.size(), piece.size() - offset);
    record_.insert(record_.end(), piece.begin() + offset, piece.begin() + offset + size);
    offset += size;
    if (offset == piece.size()) ++index, offset = 0;
  }
  slice = {record_.data(), record_.size()};
}

void TlsStream::shutdownWrite() {
  if (!broken_) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  ::shutdown(socket_.get(), SHUT_WR);
}

void TlsStream::abortRead() { ::shutdown(socket_.get(), SHUT_RD); }

void TlsStream::fail(int error) {
  const int system_error = errno;
  broken_ = true;
  std::string text;
  if (error == SSL_ERROR_SSL) {
    const TlsError what = tls_error(check_, SSL_is_server(ssl_.get()) == 1, own_);
    if (what.refused) *refusal_ = what.text;
    if (what.plain) ::send(socket_.get(), tls_only_here.data(), tls_only_here.size(), MSG_NOSIGNAL);
    text = what.text;
  } else if (error == SSL_ERROR_SYSCALL && system_error != 0) {
    text = std::strerror(system_error);
  } else {
    text = "the peer has closed the connection";
  }
  ERR_clear_error();
  kj::throwFatalException(
      kj::Exception(kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__, kj::str(text.c_str())));
}

}  // namespace actorflow
