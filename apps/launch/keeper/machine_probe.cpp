#include "apps/launch/keeper/machine_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) {
  std::error_code ignored;
  return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, ignored);
}

}  // namespace

std::string enter_folder(const std::string& folder) {
  if (folder.empty() || chdir(folder.c_str()) == 0) return {};
  return fmt::format("the working folder '{}' cannot be entered: {}; give another --work_dir", folder,
                     std::strerror(errno));
}

std::string folder_mistake(const std::string& what, const std::string& folder, bool to_write) {
  if (folder.empty()) return {};
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fmt::format("{} '{}' is no folder there{}", what, folder,
                       error ? ": " + error.message() : "");
  if (access(folder.c_str(), R_OK | X_OK | (to_write ? W_OK : 0)) == 0) return {};
  return fmt::format("{} '{}' cannot be {}: {}", what, folder, to_write ? "written" : "read",
                     std::strerror(errno));
}

std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) {
    if (is_program(name)) return name;
    std::error_code ignored;
    if (fs::exists(name, ignored))
      throw Error(
          Code::permission_denied,
          fmt::format("'{}' is there, but is no program{}", name,
                      fs::is_regular_file(name, ignored) ? "; allow it: chmod +x" : ", it is a folder"));
    throw Error(Code::not_found, fmt::format("the program '{}' is not there, seen from '{}'", name,
                                             fs::current_path(ignored).string()));
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = (folder.empty() ? "." : folder) + "/" + name; is_program(file))
      return file;
  throw Error(Code::not_found, fmt::format("the program '{}' is in no folder of PATH", name));
}

}  // namespace actorflow
