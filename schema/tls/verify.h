// Verification of peers, and descriptions of refusals. Internal to schema/tls: includes OpenSSL.
#pragma once

#include <string>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// The verification state of a connection; the application data of its SSL. Not thread-safe.
struct PeerCheck {
  // The task that must answer; nothing: any task, or any caller.
  Holder expected;
  // The mistake that verify_peer() has found, as words that follow the peer's name.
  std::string refusal;
};

// The callback of SSL_CTX_set_verify. Besides the signatures it demands a name of Actorflow: of a task
// at the called end, and of the expected task if there is one.
int verify_peer(int valid, X509_STORE_CTX* store);

// The failure of a call that OpenSSL reported as SSL_ERROR_SSL, as words that follow the peer's name.
// `own`: our certificate, for alerts about it. Clears the errors of this thread.
struct TlsError {
  std::string text;
  bool refused = true;  // by either end: a retry would fail in the same way
  bool plain = false;   // the received bytes were no TLS, and OpenSSL has not answered them
};
TlsError tls_error(const PeerCheck& check, bool answering, const std::string& own);

}  // namespace actorflow
