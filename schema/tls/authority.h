// The certificate authority of a cluster. Internal to schema/: includes OpenSSL.
#pragma once

#include <cstdint>
#include <string>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// A period in seconds since 1970, by the wall clock; all machines of a cluster must roughly agree about
// it.
struct Validity {
  std::int64_t from = 0;
  std::int64_t until = 0;
};

// A certificate and its private key, as PEM. Keys use NIST's curve P-256, which all TLS libraries have.
struct KeyPair {
  std::string certificate;
  std::string key;
};

class CertificateAuthority {
 public:
  // A new authority with a self-signed certificate, under a unique name.
  static CertificateAuthority create(Validity validity);
  // Throws invalid_argument if the certificate is not that of an authority, or the key does not belong
  // to it.
  explicit CertificateAuthority(const KeyPair& pem);

  // A new key with a certificate: for a task, valid at both ends of a connection; for a client, at the
  // calling end only. It expires no later than the authority's own.
  KeyPair issue(const Holder& holder, Validity validity) const;

  KeyPair pem() const;
  std::int64_t valid_until() const;
  // Whether the authority has signed this certificate and the key belongs to it. Throws invalid_argument
  // if the pair is no PEM.
  bool has_issued(const KeyPair& pair) const;

 private:
  CertificateAuthority(X509Ptr certificate, KeyPtr key);
  X509Ptr certificate_;
  KeyPtr key_;
};

}  // namespace actorflow
