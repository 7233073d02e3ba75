// OpenSSL's objects with owners. Internal to schema/tls: includes OpenSSL.
#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

template <auto free>
struct OpenSslFree {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

template <class T, auto free>
using OpenSslPtr = std::unique_ptr<T, OpenSslFree<free>>;

using BioPtr = OpenSslPtr<BIO, BIO_free>;
using X509Ptr = OpenSslPtr<X509, X509_free>;
using KeyPtr = OpenSslPtr<EVP_PKEY, EVP_PKEY_free>;
using SslContextPtr = OpenSslPtr<SSL_CTX, SSL_CTX_free>;
using SslPtr = OpenSslPtr<SSL, SSL_free>;

// The first error in OpenSSL's queue of this thread; clears the queue.
std::string openssl_error();
// Throws internal with openssl_error() unless `ok`.
void openssl_check(bool ok, const char* doing);

// All certificates of a PEM text. Throws invalid_argument, naming the text by `what`, if there is none
// or one is damaged.
std::vector<X509Ptr> read_certificates(std::string_view pem, const std::string& what);
KeyPtr read_key(std::string_view pem, const std::string& what);

}  // namespace actorflow
