#include "apps/rehearsal/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace actorflow {

TemporaryFolder::TemporaryFolder(std::string_view name_begins)
    : path_((std::filesystem::temp_directory_path() / fmt::format("{}-XXXXXX", name_begins)).string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace actorflow
