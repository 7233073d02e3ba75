#include "apps/launch/run/job_credentials.h"

#include <chrono>
#include <filesystem>
#include <optional>

#include "apps/launch/keeper/key_folder.h"
#include "schema/credentials.h"
#include "schema/tls/keygen.h"

namespace actorflow {
namespace {

constexpr const char* authority_name = "ca.crt";

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

JobCredentials::JobCredentials(const std::string& folder, const std::vector<TaskName>& tasks) {
  std::optional<KeyFolder> temporary;
  if (folder.empty()) temporary.emplace();
  make_and_read(temporary ? temporary->path() : folder, tasks);
}

void JobCredentials::make_and_read(const std::string& folder, const std::vector<TaskName>& tasks) {
  KeygenOptions options;
  options.folder = folder;
  options.tasks = tasks;
  options.now = std::chrono::duration_cast<std::chrono::seconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  generate_keys(options);
  for (const auto& task : tasks) {
    const CredentialFiles files(folder, task);
    const Credentials read = read_credentials(folder, task);
    own_[task] = {name_of(files.certificate), read.certificate, name_of(files.key), read.key};
    authority_ = read.authority;
  }
}

Frame JobCredentials::frame_for(const std::vector<TaskName>& tasks) const {
  Frame frame{"credentials", authority_name, authority_};
  for (const auto& task : tasks) frame.insert(frame.end(), own_.at(task).begin(), own_.at(task).end());
  return frame;
}

}  // namespace actorflow
