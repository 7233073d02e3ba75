#include "schema/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <chrono>

#include "dataflow/values/error.h"
#include "schema/tls/certificate.h"
#include "schema/tls/verify.h"

namespace actorflow {
namespace {

// What a stranger may send before we know it; ours are below 1 KiB.
constexpr long max_certificate_bytes = 16 << 10;
constexpr std::size_t read_bytes = 64 << 10;
// A certificate, and one of the authority above it.
constexpr int max_depth = 1;

using StoreContextPtr = OpenSslPtr<X509_STORE_CTX, X509_STORE_CTX_free>;

Error unusable(const std::string& why) {
  return {Code::failed_precondition, "these credentials are of no use: " + why};
}

SslContextPtr new_context() {
  SslContextPtr context(SSL_CTX_new(TLS_method()));
  openssl_check(context != nullptr, "starting TLS");
  SSL_CTX* it = context.get();
  openssl_check(SSL_CTX_set_min_proto_version(it, TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_max_proto_version(it, TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_ciphersuites(it,
                                             "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                             "TLS_CHACHA20_POLY1305_SHA256") == 1 &&
                    SSL_CTX_set_num_tickets(it, 0) == 1,
                "configuring TLS");
  SSL_CTX_set_session_cache_mode(it, SSL_SESS_CACHE_OFF);
  // The end of a connection is told by the messages: a cut is a loss either way.
  SSL_CTX_set_options(it, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(it, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
  SSL_CTX_set_max_cert_list(it, max_certificate_bytes);
  SSL_CTX_set_read_ahead(it, 1);
  SSL_CTX_set_default_read_buffer_len(it, read_bytes);
  SSL_CTX_set_verify(it, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verify_peer);
  SSL_CTX_set_verify_depth(it, max_depth);
  return context;
}

std::int64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

TlsContext::TlsContext(const Credentials& credentials, const Holder& self) : context_(new_context()) {
  trust(credentials.authority);
  present(credentials);
  check_own(self);
}

void TlsContext::trust(const std::string& authority) {
  X509_STORE* store = SSL_CTX_get_cert_store(context_.get());
  for (const auto& certificate : read_certificates(authority, "authority"))
    openssl_check(X509_STORE_add_cert(store, certificate.get()) == 1, "trusting an authority");
}

void TlsContext::present(const Credentials& credentials) {
  const auto certificates = read_certificates(credentials.certificate, "certificate");
  const KeyPtr key = read_key(credentials.key, "key");
  openssl_check(SSL_CTX_use_certificate(context_.get(), certificates.front().get()) == 1,
                "using our certificate");
  for (std::size_t i = 1; i < certificates.size(); ++i)
    openssl_check(SSL_CTX_add1_chain_cert(context_.get(), certificates[i].get()) == 1,
                  "using our certificate");
  if (SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1)
    throw unusable("the key does not belong to the certificate (" + openssl_error() + ")");
}

// What the others would find wrong is found here first.
void TlsContext::check_own(const Holder& self) {
  X509* own = SSL_CTX_get0_certificate(context_.get());
  own_ = describe(*own) + ", of " + describe_issuer(*own) + ", valid until " +
         format_time(valid_until(*own));
  const auto names = actorflow_names(*own);
  if (std::ranges::find(names, holder_name(self)) == names.end())
    throw unusable("the certificate is for " + describe(*own) + ", not for " + holder_name(self));
  if (valid_until(*own) <= now())
    throw unusable("the certificate of " + describe(*own) + " has expired, on " +
                   format_time(valid_until(*own)) + "; 'actorflow keygen --renew' makes new ones");
  const StoreContextPtr store(X509_STORE_CTX_new());
  openssl_check(store && X509_STORE_CTX_init(store.get(), SSL_CTX_get_cert_store(context_.get()), own,
                                             nullptr) == 1,
                "verifying our certificate");
  if (X509_verify_cert(store.get()) != 1)
    throw unusable("the certificate of " + own_ + " is not one of the authority beside it (" +
                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(store.get())) + ")");
}

SslPtr TlsContext::begin(void* owner) const {
  SslPtr ssl(SSL_new(context_.get()));
  openssl_check(ssl && SSL_set_app_data(ssl.get(), owner) == 1, "starting a connection");
  return ssl;
}

}  // namespace actorflow
