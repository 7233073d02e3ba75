// The certificate authority of a cluster. Internal to schema/: includes OpenSSL.
#pragma once

#include <cstdint>
#include <string>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// Seconds since 1970, by the wall clock: the machines of a cluster have to agree about it only.
struct Validity {
  std::int64_t from = 0;
  std::int64_t until = 0;
};

// A certificate and its private key, as PEM. Keys are of NIST's curve P-256: all TLS libraries have it.
struct KeyPair {
  std::string certificate;
  std::string key;
};

class CertificateAuthority {
 public:
  // Signs its own certificate, under a name that no other authority has.
  static CertificateAuthority create(Validity validity);
  // Throws invalid_argument for what is no authority, or if the key is another's.
  explicit CertificateAuthority(const KeyPair& pem);

  // A new key with a certificate: of a task, for both ends of a connection; of a client, for the calling
  // end alone. It does not outlive the authority's own.
  KeyPair issue(const Holder& holder, Validity validity) const;

  KeyPair pem() const;
  std::int64_t valid_until() const;
  // Has it signed this certificate, and does the key belong to it? Throws invalid_argument if
  // that is no PEM.
  bool has_issued(const KeyPair& pair) const;

 private:
  CertificateAuthority(X509Ptr certificate, KeyPtr key);
  X509Ptr certificate_;
  KeyPtr key_;
};

}  // namespace actorflow
