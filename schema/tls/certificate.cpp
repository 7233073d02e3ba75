#include "schema/tls/certificate.h"

#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

constexpr std::string_view scheme = "actorflow:";
constexpr std::size_t max_text = 200;

using NamesPtr = OpenSslPtr<GENERAL_NAMES, GENERAL_NAMES_free>;

std::string printable(std::string text) {
  if (text.size() > max_text) text = text.substr(0, max_text) + "...";
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string common_name(const X509_NAME* name) {
  std::array<char, max_text + 1> text{};
  const int size = X509_NAME_get_text_by_NID(name, NID_commonName, text.data(), text.size());
  return size > 0 ? printable(text.data()) : "no name";
}

std::int64_t seconds(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

}  // namespace

std::vector<std::string> actorflow_names(const X509& certificate) {
  std::vector<std::string> found;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                static_cast<std::size_t>(ASN1_STRING_length(uri)));
    if (text.starts_with(scheme)) found.emplace_back(text);
  }
  return found;
}

std::string describe(const X509& certificate) {
  const std::string text = joined(actorflow_names(certificate), ", ");
  return text.empty() ? "'" + common_name(X509_get_subject_name(&certificate)) + "'" : printable(text);
}

std::string describe_issuer(const X509& certificate) {
  return "'" + common_name(X509_get_issuer_name(&certificate)) + "'";
}

std::int64_t valid_from(const X509& certificate) { return seconds(X509_get0_notBefore(&certificate)); }
std::int64_t valid_until(const X509& certificate) { return seconds(X509_get0_notAfter(&certificate)); }

std::string format_time(std::int64_t seconds_since_1970) {
  const std::time_t time = seconds_since_1970;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

}  // namespace actorflow
