#include "kernels/devices/shared_library.h"

#include <dlfcn.h>

#include <sstream>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// RTLD_NOW: what a library itself lacks is reported here rather than by the death of the process later.
void* open(const std::string& path, std::string& reasons) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) reasons += std::string(reasons.empty() ? "" : "; ") + dlerror();
  return handle;
}

std::vector<std::string> cuda_folders() {
  std::vector<std::string> folders;
#ifdef ACTORFLOW_CUDA_FOLDERS
  std::istringstream list(ACTORFLOW_CUDA_FOLDERS);
  for (std::string folder; std::getline(list, folder, ':');) folders.push_back(folder);
#endif
  return folders;
}

}  // namespace

SharedLibrary::SharedLibrary(std::string file, std::span<const std::string> folders,
                             std::string_view advice)
    : file_(std::move(file)) {
  std::string reasons;
  handle_ = open(file_, reasons);
  for (auto folder = folders.begin(); !handle_ && folder != folders.end(); ++folder)
    handle_ = open(*folder + "/" + file_, reasons);
  if (!handle_)
    throw Error(Code::failed_precondition, "cannot load " + file_ + ": " + std::string(advice) +
                                               ", or name its folder in LD_LIBRARY_PATH (" + reasons +
                                               ")");
}

void* SharedLibrary::address_of(const char* name) const {
  if (void* address = dlsym(handle_, name)) return address;
  throw Error(Code::unimplemented, file_ + " has no function " + name +
                                       ": it is not of the version that this program was built for");
}

SharedLibrary cuda_library(std::string file, std::string_view advice) {
  return {std::move(file), cuda_folders(), advice};
}

}  // namespace actorflow
