// The content of certificates. Internal to schema/tls: includes OpenSSL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/credentials.h"
#include "schema/tls/openssl.h"

namespace actorflow {

// The names "actorflow:..." among a certificate's subject alternative names of type URI.
std::vector<std::string> actorflow_names(const X509& certificate);
// These names for people, on one line, or the subject if there are none; cut and made printable, since
// strangers send them.
std::string describe(const X509& certificate);
std::string describe_issuer(const X509& certificate);

// The period of validity, in seconds since 1970.
std::int64_t valid_from(const X509& certificate);
std::int64_t valid_until(const X509& certificate);
std::string format_time(std::int64_t seconds);  // "2026-11-21 22:10 UTC"

}  // namespace actorflow
