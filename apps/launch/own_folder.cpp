#include "apps/launch/own_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "dataflow/values/error.h"
#include "schema/file_descriptor.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

bool is_own(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & 077) == 0;
}

// Folders of that name or with an end of six letters, which only this user can enter.
std::set<std::string> own_folders(const std::string& parent, const std::string& name) {
  std::set<std::string> own;
  std::error_code error;  // it ends the list: others may remove the parent meanwhile
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    if ((other == name || other.starts_with(name + "-")) && is_own(entry->path().string()))
      own.insert(entry->path().string());
  }
  return own;
}

// Until it is destroyed only this process draws a name, so that all of the user's draw one. Another user
// may keep us waiting, but not for longer than this.
FileDescriptor wait_for_turn(const std::string& parent) {
  FileDescriptor folder(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock_within(folder, std::chrono::seconds(1));
  return folder;
}

}  // namespace

std::string own_folder(const std::string& parent) {
  const std::string name = fmt::format("actorflow-{}", geteuid());
  auto own = own_folders(parent, name);
  if (!own.empty()) return *own.begin();
  std::string path = parent + "/" + name;
  if (mkdir(path.c_str(), 0700) == 0 || is_own(path)) return path;
  // Another user has taken that name; nobody can take one that is drawn.
  const FileDescriptor turn = wait_for_turn(parent);
  own = own_folders(parent, name);
  if (!own.empty()) return *own.begin();
  path += "-XXXXXX";
  if (mkdtemp(path.data())) return path;
  throw Error(
      Code::failed_precondition,
      fmt::format("the folder '{}' of running jobs cannot be made: {}", path, std::strerror(errno)));
}

}  // namespace actorflow
