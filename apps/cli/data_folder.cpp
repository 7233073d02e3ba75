#include "apps/cli/data_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace actorflow {
namespace {

// Of CIFAR-10 there are only a few images, for tests: a folder of one's own may well have that name.
constexpr std::array<std::string_view, 4> whole_data_sets{"digits", "iris", "mnist", "shakespeare"};

bool is_data_set(const std::string& given) { return std::ranges::count(whole_data_sets, given) > 0; }

}  // namespace

std::string default_data_folder(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& candidate :
       {program / "../share/actorflow/data" / name, fs::path(ACTORFLOW_SOURCE_DIR) / "apps/data" / name})
    if (fs::is_directory(candidate, ignored)) return candidate.lexically_normal().string();
  return {};
}

std::string data_folder(const std::string& given) {
  if (given.empty()) return default_data_folder();
  const bool is_path = given.find('/') != std::string::npos || std::filesystem::is_directory(given);
  if (is_path && !is_data_set(given)) return given;
  const std::string own = default_data_folder(given);
  return own.empty() ? given : own;
}

std::string data_path(const std::string& given) {
  namespace fs = std::filesystem;
  if (fs::exists(given) && !is_data_set(given)) return given;
  for (const char* ending : {".csv", ".txt.gz"})
    if (const auto file = fs::path(default_data_folder()).parent_path() / (given + ending);
        !given.empty() && fs::is_regular_file(file))
      return file.string();
  return data_folder(given);
}

}  // namespace actorflow
