#include "schema/credentials.h"

#include <filesystem>

#include "dataflow/values/error.h"
#include "schema/text_file.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

std::string stem(const Holder& holder) {
  return holder ? holder->job + "-" + std::to_string(holder->index) : "client";
}

std::string read(const std::string& path, const std::string& folder, const Holder& holder) {
  const auto text = read_text_file(path);
  if (!text || text->empty())
    throw Error(Code::not_found, "cannot read " + path + ", which " + holder_name(holder) +
                                     " needs; 'actorflow keygen --cluster CLUSTER --output " + folder +
                                     "' makes it");
  return *text;
}

void check_private(const std::string& key) {
  std::error_code error;
  const auto permissions = fs::status(key, error).permissions();
  constexpr auto anyone = fs::perms::others_read | fs::perms::others_write;
  if (!error && (permissions & anyone) != fs::perms::none)
    throw Error(Code::permission_denied,
                "anyone on this machine can read or change the key " + key + "; chmod 600 it");
}

}  // namespace

std::string holder_name(const Holder& holder) {
  return "actorflow:" + (holder ? holder->to_string() : "client");
}

CredentialFiles::CredentialFiles(const std::string& folder, const Holder& holder)
    : authority(fs::path(folder) / "ca.crt"),
      certificate(fs::path(folder) / (stem(holder) + ".crt")),
      key(fs::path(folder) / (stem(holder) + ".key")) {}

Credentials read_credentials(const std::string& folder, const Holder& holder) {
  const CredentialFiles files(folder, holder);
  Credentials credentials{read(files.authority, folder, holder), read(files.certificate, folder, holder),
                          read(files.key, folder, holder)};
  check_private(files.key);
  return credentials;
}

}  // namespace actorflow
