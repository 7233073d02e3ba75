#include "schema/tls/authority.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "dataflow/values/error.h"
#include "schema/tls/certificate.h"

namespace actorflow {
namespace {

using BignumPtr = OpenSslPtr<BIGNUM, BN_free>;
using ExtensionPtr = OpenSslPtr<X509_EXTENSION, X509_EXTENSION_free>;

KeyPtr new_key() {
  KeyPtr key(EVP_EC_gen("P-256"));
  openssl_check(key != nullptr, "making a key");
  return key;
}

std::string random_hex() {
  std::array<unsigned char, 4> bytes{};
  openssl_check(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "random bytes");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

void set_serial(X509& certificate) {
  constexpr int bits = 127;  // positive, and never the same twice
  const BignumPtr number(BN_new());
  openssl_check(number && BN_rand(number.get(), bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)),
                "a serial number");
}

void set_common_name(X509_NAME* name, const std::string& text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  openssl_check(X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, bytes,
                                           static_cast<int>(text.size()), -1, 0) == 1,
                "a name");
}

void extend(X509& certificate, X509& issuer, int extension, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr made(X509V3_EXT_conf_nid(nullptr, &context, extension, value.c_str()));
  openssl_check(made && X509_add_ext(&certificate, made.get(), -1) == 1, "an extension");
}

// All but names, extensions and signature.
X509Ptr begin(EVP_PKEY& key, Validity validity) {
  X509Ptr certificate(X509_new());
  openssl_check(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                    X509_set_pubkey(certificate.get(), &key) == 1 &&
                    ASN1_TIME_set(X509_getm_notBefore(certificate.get()), validity.from) &&
                    ASN1_TIME_set(X509_getm_notAfter(certificate.get()), validity.until),
                "a certificate");
  set_serial(*certificate);
  return certificate;
}

std::string text_of(const BioPtr& bio) {
  char* begin = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &begin);
  return {begin, static_cast<std::size_t>(size)};
}

std::string pem_of(X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  openssl_check(bio && PEM_write_bio_X509(bio.get(), &certificate) == 1, "a certificate");
  return text_of(bio);
}

std::string pem_of(EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  openssl_check(bio && PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr),
                "a key");
  return text_of(bio);
}

}  // namespace

CertificateAuthority CertificateAuthority::create(Validity validity) {
  KeyPtr key = new_key();
  X509Ptr certificate = begin(*key, validity);
  set_common_name(X509_get_subject_name(certificate.get()), "Actorflow cluster " + random_hex());
  openssl_check(X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1,
                "a name");
  extend(*certificate, *certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  extend(*certificate, *certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(*certificate, *certificate, NID_subject_key_identifier, "hash");
  openssl_check(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "signing");
  return {std::move(certificate), std::move(key)};
}

CertificateAuthority::CertificateAuthority(const KeyPair& pem)
    : CertificateAuthority(
          std::move(read_certificates(pem.certificate, "authority's certificate").front()),
          read_key(pem.key, "authority's key")) {
  if (X509_check_ca(certificate_.get()) == 0)
    throw invalid_argument("the certificate of " + describe(*certificate_) + " is not an authority's");
  if (X509_check_private_key(certificate_.get(), key_.get()) != 1)
    throw invalid_argument("the authority's key does not belong to its certificate, " +
                           describe(*certificate_));
}

CertificateAuthority::CertificateAuthority(X509Ptr certificate, KeyPtr key)
    : certificate_(std::move(certificate)), key_(std::move(key)) {}

KeyPair CertificateAuthority::issue(const Holder& holder, Validity validity) const {
  validity.until = std::min(validity.until, valid_until());
  const KeyPtr key = new_key();
  const X509Ptr certificate = begin(*key, validity);
  X509& it = *certificate;
  set_common_name(X509_get_subject_name(&it), holder ? holder->to_string() : "client");
  openssl_check(X509_set_issuer_name(&it, X509_get_subject_name(certificate_.get())) == 1, "a name");
  extend(it, *certificate_, NID_basic_constraints, "critical,CA:FALSE");
  extend(it, *certificate_, NID_key_usage, "critical,digitalSignature");
  extend(it, *certificate_, NID_ext_key_usage, holder ? "serverAuth,clientAuth" : "clientAuth");
  extend(it, *certificate_, NID_subject_alt_name, "URI:" + holder_name(holder));
  extend(it, *certificate_, NID_subject_key_identifier, "hash");
  extend(it, *certificate_, NID_authority_key_identifier, "keyid:always");
  openssl_check(X509_sign(&it, key_.get(), EVP_sha256()) > 0, "signing");
  return {pem_of(it), pem_of(*key)};
}

KeyPair CertificateAuthority::pem() const { return {pem_of(*certificate_), pem_of(*key_)}; }

std::int64_t CertificateAuthority::valid_until() const { return actorflow::valid_until(*certificate_); }

bool CertificateAuthority::has_issued(const KeyPair& pair) const {
  const auto certificates = read_certificates(pair.certificate, "certificate");
  const KeyPtr key = read_key(pair.key, "key");
  const bool issued = X509_verify(certificates.front().get(), key_.get()) == 1 &&
                      X509_check_private_key(certificates.front().get(), key.get()) == 1;
  ERR_clear_error();
  return issued;
}

}  // namespace actorflow
