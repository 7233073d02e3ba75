#include "apps/launch/own_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "dataflow/values/error.h"

namespace actorflow {

std::string own_folder() {
  const std::string folder = fmt::format("/tmp/actorflow-{}", geteuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(
        Code::failed_precondition,
        fmt::format("the folder '{}' of running jobs cannot be made: {}", folder, std::strerror(errno)));
  struct stat info {};
  const bool is_own = lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                      info.st_uid == geteuid() && (info.st_mode & 077) == 0;
  if (!is_own)
    throw Error(
        Code::permission_denied,
        fmt::format("the folder '{}' of running jobs is not this user's own with mode 0700; remove it",
                    folder));
  return folder;
}

}  // namespace actorflow
