#include "schema/tls/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

BioPtr reader(std::string_view text) {
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  openssl_check(bio != nullptr, "reading a certificate");
  return bio;
}

// Nobody is asked for a password.
int no_password(char*, int, int, void*) { return -1; }

}  // namespace

std::string openssl_error() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(error);
  return reason ? reason : "error " + std::to_string(error);
}

void openssl_check(bool ok, const char* doing) {
  if (!ok) throw Error(Code::internal, std::string("OpenSSL, ") + doing + ": " + openssl_error());
}

std::vector<X509Ptr> read_certificates(std::string_view pem, const std::string& what) {
  const BioPtr bio = reader(pem);
  std::vector<X509Ptr> certificates;
  while (X509Ptr one{PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)})
    certificates.push_back(std::move(one));
  const unsigned long error = ERR_peek_last_error();
  const bool at_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  const std::string reason = openssl_error();
  if (certificates.empty() || !at_end)
    throw invalid_argument("the " + what + " is no certificate in PEM: " + reason);
  return certificates;
}

KeyPtr read_key(std::string_view pem, const std::string& what) {
  KeyPtr key(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, no_password, nullptr));
  if (!key) throw invalid_argument("the " + what + " is no private key in PEM: " + openssl_error());
  return key;
}

}  // namespace actorflow
