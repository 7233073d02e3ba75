// Whom a connection takes, and how its refusals are told. Internal to schema/tls: includes OpenSSL.
#pragma once

#include <string>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// What a connection knows of its peer; the application data of its SSL. Not thread-safe.
struct PeerCheck {
  // The task that must answer; nothing: any task, or whoever calls.
  Holder expected;
  // What verify_peer() has found wrong, in words that follow the peer's name.
  std::string refusal;
};

// The callback of SSL_CTX_set_verify: besides the signatures it asks for a name of Actorflow, of a task
// at the called end, of the expected one if there is one.
int verify_peer(int valid, X509_STORE_CTX* store);

// What went wrong in a call that OpenSSL reported as SSL_ERROR_SSL, in words that follow the peer's
// name. `own`: our certificate, for what the peer says of it. Forgets the errors of this thread.
struct TlsError {
  std::string text;
  bool refused = true;  // by either end: another attempt would end the same way
  bool plain = false;   // what has come was no TLS, and OpenSSL has not answered it
};
TlsError tls_error(const PeerCheck& check, bool answering, const std::string& own);

}  // namespace actorflow
