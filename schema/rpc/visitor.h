// An accepted connection whose purpose is not known yet. Internal to schema/: includes kj.
#pragma once

#include <kj/async-io.h>

#include <memory>
#include <string>
#include <vector>

#include "schema/rpc/bulk_connection.h"

namespace actorflow {

// For the loop's thread.
struct Visitor {
  kj::Own<kj::AsyncIoStream> socket;  // null where `io` is the socket
  kj::Own<kj::AsyncIoStream> io;      // the secured stream; null before greet()
  bool local = false;                 // over a Unix socket: may bring shared memory
  std::vector<std::string> names;     // in its certificate
  TlsStream::Refusal refusal = std::make_shared<std::string>();
  GuardedStream::Head head{};
  BulkToken token{};
  kj::AutoCloseFd file;
};

// The address of the peer, for people: "10.0.0.7:40312".
std::string peer_name(kj::AsyncIoStream& socket);

// Secures the connection, unless `tls` is null or it is local, and reads its first 8 bytes. Resolves to
// "", or to the reason why the connection is refused; the peer has then been told, and given a second to
// leave. Fails if the peer leaves.
kj::Promise<std::string> greet(IoLoop& loop, std::shared_ptr<const TlsContext> tls, Visitor& visitor);

}  // namespace actorflow
