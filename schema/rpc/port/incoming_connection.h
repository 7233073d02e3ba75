// An accepted connection whose purpose is not known yet. Internal to schema/: includes kj.
#pragma once

#include <kj/async-io.h>

#include <memory>
#include <string>
#include <vector>

#include "schema/rpc/bulk_connection.h"

namespace actorflow {

// The loop's.
struct IncomingConnection {
  kj::Own<kj::AsyncIoStream> socket;  // null where `io` is the socket
  kj::Own<kj::AsyncIoStream> io;      // the secured stream; null before greet()
  bool local = false;                 // over a Unix socket: may bring shared memory
  std::vector<std::string> names;     // in its certificate
  TlsStream::Refusal refusal = std::make_shared<std::string>();
  GuardedStream::Head head{};
  BulkToken token{};
  kj::AutoCloseFd file;
};

// The address and port of the other end, for people: "10.0.0.7:40312".
std::string peer_name(kj::AsyncIoStream& socket);

// Secures the connection, unless `tls` is null or it is local, and reads its first 8 bytes. The result
// is why it is refused, or "": the other end has been told then, and has left or been given a
// second to. Fails if the other end leaves.
kj::Promise<std::string> greet(IoLoop& loop, std::shared_ptr<const TlsContext> tls,
                               IncomingConnection& incoming);

}  // namespace actorflow
