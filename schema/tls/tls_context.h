// The shared TLS settings of the connections of one task, or of a client. Internal to schema/: includes
// OpenSSL.
#pragma once

#include <string>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// TLS 1.3 only, with certificates of one authority at both ends and without resumed sessions: every
// connection is verified anew. Thread-safe.
class TlsContext {
 public:
  // Throws failed_precondition for credentials that peers would refuse: expired, of another authority,
  // for another holder; invalid_argument for text that is no certificate or key.
  TlsContext(const Credentials& credentials, const Holder& self);

  // The state of a new connection. Callbacks of its verification find `owner` by SSL_get_app_data().
  SslPtr begin(void* owner) const;
  // Our own certificate for messages: holder, authority, end of validity.
  const std::string& own() const { return own_; }

 private:
  void trust(const std::string& authority);
  void present(const Credentials& credentials);
  void check_own(const Holder& self);

  SslContextPtr context_;
  std::string own_;
};

}  // namespace actorflow
