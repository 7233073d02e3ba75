#include "schema/replace_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace actorflow {
namespace {

// With the rights of root a rename would put a file in the place of the whole machine's /dev/null.
bool is_to_stay(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return true;
  std::error_code no_link;
  return std::filesystem::read_symlink(path, no_link).string().starts_with("/proc/");
}

}  // namespace

int replace_file(const std::string& from, const std::string& to) {
  if (is_to_stay(to)) return -ENOTSUP;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : -errno;
}

}  // namespace actorflow
