// Credentials for tests, made by the same code as those of users.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "schema/tls/keygen.h"
#include "test/support/folder.h"

namespace actorflow::test {

inline std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A folder of certificates for two parameter servers, two workers and clients, removed with the object.
class Keys {
 public:
  // Makes them as of `age_days` ago, valid for a year.
  explicit Keys(int age_days = 0) {
    options.folder = folder_.path();
    options.tasks = {{"ps", 0}, {"ps", 1}, {"worker", 0}, {"worker", 1}};
    options.now = seconds_now() - age_days * std::int64_t{86'400};
    generate_keys(options);
  }

  const std::string& folder() const { return options.folder; }
  std::string file(const std::string& name) const { return options.folder + "/" + name; }
  Credentials of(const Holder& holder) const { return read_credentials(folder(), holder); }

  KeygenOptions options;

 private:
  const Folder folder_;
};

inline int mode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? static_cast<int>(status.st_mode & 0777U) : -1;
}

}  // namespace actorflow::test
