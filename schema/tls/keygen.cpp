#include "schema/tls/keygen.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "dataflow/values/error.h"
#include "schema/file_descriptor.h"
#include "schema/private_file.h"
#include "schema/text_file.h"
#include "schema/tls/authority.h"
#include "schema/tls/certificate.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t seconds_per_day = 86'400;
constexpr std::int64_t clock_difference = 3'600;

[[noreturn]] void fail(const std::string& doing) {
  throw Error(Code::disk_error, doing + ": " + std::strerror(errno));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  const fs::path parent = fs::absolute(folder).parent_path();
  fs::create_directories(parent, error);
  if (mkdir(folder.c_str(), S_IRWXU) == 0) return;
  if (errno != EEXIST || !fs::is_directory(folder)) fail("cannot make the folder " + folder);
  constexpr auto others = fs::perms::group_write | fs::perms::others_write;
  if ((fs::status(folder).permissions() & others) != fs::perms::none)
    throw Error(Code::permission_denied,
                "others may write to " + folder +
                    " and replace what is in it; chmod 700 it, or name a folder that is not there yet");
}

void write_private(const std::string& path, const std::string& text) {
  const std::string failed = write_private_file(path, text);
  if (!failed.empty()) fail("cannot write " + failed);
}

// Until it is destroyed nobody else makes keys in the folder: two authorities would overwrite each
// other's files. A file system without locks is used without.
FileDescriptor wait_for_turn(const std::string& folder) {
  FileDescriptor turn(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_within(turn, 10s))
    throw Error(Code::unavailable, "another 'actorflow keygen' has been at work in '" + folder +
                                       "' for 10 s; end it, or wait until it has ended");
  return turn;
}

Validity validity(const KeygenOptions& options, int days) {
  return {options.now - clock_difference, options.now + days * seconds_per_day};
}

class Folder {
 public:
  explicit Folder(const KeygenOptions& options)
      : options_(options),
        authority_certificate_(fs::path(options.folder) / "ca.crt"),
        authority_key_(fs::path(options.folder) / "ca.key") {}

  CertificateAuthority authority(KeygenReport& report) const {
    if (!options_.replace_authority)
      if (auto there = existing_authority()) return std::move(*there);
    auto made = CertificateAuthority::create(validity(options_, options_.authority_days));
    const KeyPair pem = made.pem();
    write_private(authority_key_, pem.key);
    write_private(authority_certificate_, pem.certificate);
    report.authority_made = true;
    return made;
  }

  KeygenReport::Entry entry(const CertificateAuthority& authority, const Holder& holder) const {
    const CredentialFiles files(options_.folder, holder);
    KeygenReport::Entry entry{holder, files.certificate};
    const auto certificate = read_text_file(files.certificate), key = read_text_file(files.key);
    if (certificate && key && !options_.renew)
      entry.valid_until = usable_until(authority, {*certificate, *key});
    if (entry.valid_until > options_.now) return entry;
    const KeyPair pair = authority.issue(holder, validity(options_, options_.days));
    write_private(files.key, pair.key);
    write_private(files.certificate, pair.certificate);
    entry.made = true;
    entry.valid_until = until(pair.certificate);
    return entry;
  }

 private:
  std::optional<CertificateAuthority> existing_authority() const {
    const auto certificate = read_text_file(authority_certificate_),
               key = read_text_file(authority_key_);
    if (!certificate && !key) return {};
    const std::string remedy = "; to replace it, and with it every certificate of the cluster, say so";
    if (!certificate || !key)
      throw Error(
          Code::failed_precondition,
          (certificate ? authority_certificate_ + " has no ca.key" : authority_key_ + " has no ca.crt") +
              " beside it: add certificates where the authority was made" + remedy);
    CertificateAuthority authority(KeyPair{*certificate, *key});
    if (authority.valid_until() <= options_.now)
      throw Error(Code::failed_precondition, "the authority " + authority_certificate_ +
                                                 " has expired, on " +
                                                 format_time(authority.valid_until()) + remedy);
    return authority;
  }

  static std::int64_t until(const std::string& certificate) {
    return valid_until(*read_certificates(certificate, "certificate").front());
  }

  // 0 if it is of another authority, or damaged.
  static std::int64_t usable_until(const CertificateAuthority& authority, const KeyPair& pair) {
    try {
      return authority.has_issued(pair) ? until(pair.certificate) : 0;
    } catch (const Error&) {
      return 0;
    }
  }

  const KeygenOptions& options_;
  const std::string authority_certificate_, authority_key_;
};

}  // namespace

KeygenReport generate_keys(const KeygenOptions& options) {
  make_folder(options.folder);
  const FileDescriptor turn = wait_for_turn(options.folder);
  const Folder folder(options);
  KeygenReport report;
  const CertificateAuthority authority = folder.authority(report);
  report.authority_valid_until = authority.valid_until();
  for (const auto& task : options.tasks) report.entries.push_back(folder.entry(authority, task));
  report.entries.push_back(folder.entry(authority, std::nullopt));
  return report;
}

std::map<TaskName, Credentials> make_credentials(const KeygenOptions& options) {
  const auto authority = CertificateAuthority::create(validity(options, options.authority_days));
  const std::string trusted = authority.pem().certificate;
  std::map<TaskName, Credentials> made;
  for (const auto& task : options.tasks) {
    const KeyPair pair = authority.issue(task, validity(options, options.days));
    made[task] = {trusted, pair.certificate, pair.key};
  }
  return made;
}

}  // namespace actorflow
