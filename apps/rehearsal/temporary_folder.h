// Temporary folders.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace actorflow {

// A folder, empty at first, that is removed with this object unless it is kept.
class TemporaryFolder {
 public:
  // Makes it in the system's folder for temporary files (TMPDIR). Throws std::system_error.
  explicit TemporaryFolder(std::string_view name_begins);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const {
    return (std::filesystem::path(path_) / name).string();
  }
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool kept_ = false;
};

}  // namespace actorflow
