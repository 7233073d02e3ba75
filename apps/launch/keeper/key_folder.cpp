#include "apps/launch/keeper/key_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "apps/launch/own_folder.h"
#include "dataflow/values/error.h"
#include "schema/private_file.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_begin = "keys-";

FileDescriptor open_folder(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Error failure(const std::string& path, const char* what) {
  return {Code::disk_error, fmt::format("the folder '{}' for credentials cannot be {}: {}", path, what,
                                        std::strerror(errno))};
}

// A lock: while it is held, no other process makes or clears folders.
FileDescriptor take_turn(const std::string& all) {
  FileDescriptor turn = open_folder(all);
  if (!turn || flock(turn.get(), LOCK_EX) != 0) throw failure(all, "locked");
  return turn;
}

// Removes folders that are not locked: their processes are gone. REQUIRES: it is our turn.
void clear_abandoned(const std::string& all) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(all, ignored)) {
    if (!entry.path().filename().string().starts_with(name_begin)) continue;
    const FileDescriptor folder = open_folder(entry.path().string());
    if (folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

KeyFolder::KeyFolder() {
  const std::string all = own_folder();
  const FileDescriptor turn = take_turn(all);
  clear_abandoned(all);
  path_ = all + "/" + name_begin + "XXXXXX";
  if (mkdtemp(path_.data())) lock_ = open_folder(path_);
  if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) throw failure(path_, "made");
}

KeyFolder::~KeyFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void KeyFolder::add(const std::string& name, const std::string& bytes) const {
  if (const std::string failed = write_private_file(path_ + "/" + name, bytes); !failed.empty())
    throw Error(Code::disk_error,
                fmt::format("the credentials '{}' cannot be written: {}", failed, std::strerror(errno)));
}

void clear_abandoned_keys() {
  try {
    const std::string all = own_folder();
    const FileDescriptor turn = take_turn(all);
    clear_abandoned(all);
  } catch (const std::exception&) {  // the constructor of a folder says why
  }
}

}  // namespace actorflow
