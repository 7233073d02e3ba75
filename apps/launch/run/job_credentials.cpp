#include "apps/launch/run/job_credentials.h"

#include <chrono>

#include "schema/tls/keygen.h"

namespace actorflow {
namespace {

constexpr const char* authority_name = "ca.crt";

KeygenOptions options_for(const std::string& folder, const std::vector<TaskName>& tasks) {
  KeygenOptions options;
  options.folder = folder;
  options.tasks = tasks;
  options.now = std::chrono::duration_cast<std::chrono::seconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  return options;
}

}  // namespace

JobCredentials::JobCredentials(const std::string& folder, const std::vector<TaskName>& tasks) {
  const KeygenOptions options = options_for(folder, tasks);
  if (folder.empty()) {
    for (const auto& [task, made] : make_credentials(options)) add(task, made);
  } else {
    generate_keys(options);
    for (const auto& task : tasks) add(task, read_credentials(folder, task));
  }
}

void JobCredentials::add(const TaskName& task, const Credentials& credentials) {
  const CredentialFiles files("", task);
  own_[task] = {files.certificate, credentials.certificate, files.key, credentials.key};
  authority_ = credentials.authority;
}

Frame JobCredentials::frame_for(const std::vector<TaskName>& tasks) const {
  Frame frame{"credentials", authority_name, authority_};
  for (const auto& task : tasks) frame.insert(frame.end(), own_.at(task).begin(), own_.at(task).end());
  return frame;
}

}  // namespace actorflow
