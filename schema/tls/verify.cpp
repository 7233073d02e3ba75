#include "schema/tls/verify.h"

#include <openssl/err.h>

#include <algorithm>
#include <vector>

#include "schema/tls/certificate.h"

namespace actorflow {
namespace {

constexpr const char* one_folder = "; all tasks and clients need files of the same 'actorflow keygen'";

std::string what_is_invalid(X509_STORE_CTX* store) {
  const X509& shown = *X509_STORE_CTX_get0_cert(store);
  const std::string name = "its certificate, for " + describe(shown) + ", ";
  const int error = X509_STORE_CTX_get_error(store);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return name + "has expired, on " + format_time(valid_until(shown)) +
             "; 'actorflow keygen --renew' makes a new one";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return name + "is valid only from " + format_time(valid_from(shown)) +
             " on; are the clocks of both machines right?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_CHAIN_TOO_LONG:
      return name + "is of the authority " + describe_issuer(shown) + ", not of this cluster's" +
             one_folder;
    case X509_V_ERR_INVALID_PURPOSE:
      return name +
             "is not one for this end of a connection: a client's certificate is for calling masters";
    default:
      return name + "is invalid: " + X509_verify_cert_error_string(error);
  }
}

// Why a valid certificate is not that of the peer that we want; "" if it is.
std::string what_is_unexpected(const X509& shown, const Holder& expected, bool answering) {
  const auto names = actorflow_names(shown);
  const std::string is_for = "its certificate is for " + describe(shown);
  if (names.empty()) return is_for + ", which is no name of a task or client ('actorflow:...')";
  if (answering) return "";
  const auto has = [&names](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (!expected) return has(holder_name({})) ? is_for + ", but a task was expected" : "";
  if (has(holder_name(expected))) return "";
  return is_for + ", but " + holder_name(expected) + " was expected; check the addresses in the cluster";
}

// An alert of the peer.
std::string what_peer_says(int alert, bool answering, const std::string& own) {
  const std::string ours = " (ours is " + own + ")";
  switch (alert) {
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "it says that our certificate is not valid now" + ours +
             "; are the clocks of both machines right?";
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_DECRYPT_ERROR:
      return "it does not know the authority of our certificate" + ours + one_folder;
    case SSL_AD_BAD_CERTIFICATE:
      return "it wanted another one than us" + ours + "; check the addresses in the cluster";
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "our certificate is not one for this end of a connection" + ours;
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "it asks for a certificate";
    case SSL_AD_PROTOCOL_VERSION:
      return "it does not speak TLS 1.3, which is all that tasks take";
    case SSL_AD_HANDSHAKE_FAILURE:
      if (answering) break;
      return "it takes no TLS; was it started without credentials?";
    default:
      break;
  }
  return std::string("it has refused the connection: ") + SSL_alert_desc_string_long(alert);
}

}  // namespace

int verify_peer(int valid, X509_STORE_CTX* store) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& check = *static_cast<PeerCheck*>(SSL_get_app_data(ssl));
  if (valid == 0) {
    check.refusal = what_is_invalid(store);
    return 0;
  }
  if (X509_STORE_CTX_get_error_depth(store) > 0) return 1;
  check.refusal =
      what_is_unexpected(*X509_STORE_CTX_get0_cert(store), check.expected, SSL_is_server(ssl) == 1);
  if (check.refusal.empty()) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
}

TlsError tls_error(const PeerCheck& check, bool answering, const std::string& own) {
  const unsigned long error = ERR_peek_error();
  const std::string text = openssl_error();
  if (!check.refusal.empty()) return {check.refusal};
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return {"TLS failed: " + text, false};
  const int reason = ERR_GET_REASON(error);
  if (reason >= SSL_AD_REASON_OFFSET)
    return {what_peer_says(reason - SSL_AD_REASON_OFFSET, answering, own)};
  switch (reason) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return {std::string("it has shown no certificate") + one_folder};
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_VERSION_TOO_LOW:
      return {"it does not speak TLS 1.3, which is all that tasks take"};
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
      return {"it does not speak TLS; was it started without credentials?", true, true};
    default:
      return {"TLS failed: " + text, false};
  }
}

}  // namespace actorflow
