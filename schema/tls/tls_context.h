// What connections of one task, or of a client, have in common. Internal to schema/: includes OpenSSL.
#pragma once

#include <string>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// TLS 1.3 alone, both ends with certificates of the same authority, no session resumed: every connection
// is verified anew. Thread-safe.
class TlsContext {
 public:
  // Throws failed_precondition if others would refuse these: expired, of another authority, for another
  // holder; invalid_argument for what is no certificate or key.
  TlsContext(const Credentials& credentials, const Holder& self);

  // A connection's state. The callbacks of its verification find `owner` by SSL_get_app_data().
  SslPtr begin(void* owner) const;
  // For messages: who we are, by which authority, until when.
  const std::string& own() const { return own_; }

 private:
  void trust(const std::string& authority);
  void present(const Credentials& credentials);
  void check_own(const Holder& self);

  SslContextPtr context_;
  std::string own_;
};

}  // namespace actorflow
