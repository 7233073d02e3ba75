#include "apps/launch/deploy/manifest_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/launch/deploy/quoting.h"
#include "apps/usage/usage.h"
#include "schema/tls/keygen.h"

namespace actorflow {
namespace {

constexpr std::size_t longest_label = 63;
constexpr std::size_t largest_secret = 1 << 20;  // Kubernetes' own limit
constexpr const char* credentials_path = "/etc/actorflow/credentials";
constexpr int owner_may_read = 0400;

bool is_label(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_letter(name.front()) && name.back() != '-' &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

std::string name_of_program(const JobSpec& job) {
  std::string name = std::filesystem::path(job.command.at(0)).filename().string();
  for (char& c : name)
    c = std::isalnum(static_cast<unsigned char>(c))
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : '-';
  const auto first = name.find_first_not_of("-0123456789");
  const auto last = name.find_last_not_of('-');
  return first == name.npos ? "job" : name.substr(first, last - first + 1);
}

struct Claim {
  std::string name, path;
};

Claim claim_of(const DeployOptions& options) {
  const auto colon = options.claim.find(':');
  const Claim claim{options.claim.substr(0, colon),
                    colon == std::string::npos ? "" : options.claim.substr(colon + 1)};
  if (!is_label(claim.name) || !claim.path.starts_with('/'))
    throw UsageError(fmt::format("--claim: expected NAME:/PATH of a persistent volume claim, got '{}'",
                                 options.claim));
  return claim;
}

std::string secret_name(const std::string& name, const Role& role) {
  return fmt::format("{}-{}-tls", name, role.job);
}

bool has_secret(const Role& role, const DeployOptions& options) {
  return !options.credentials.empty() && role.job != "evaluator";
}

JsonTree encoded_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty()) throw Error(Code::not_found, fmt::format("'{}' cannot be read", path));
  return base64(bytes);
}

JsonTree::Object files_of(const Role& role, const std::string& folder) {
  JsonTree::Object files;
  const auto add = [&files](const std::string& path) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (files.empty() || files[0].first != name) files.emplace_back(name, encoded_file(path));
  };
  for (int index = 0; index < role.count; ++index) {
    const CredentialFiles paths(folder, TaskName{role.job, index});
    for (const auto& path : {paths.authority, paths.certificate, paths.key}) add(path);
  }
  return files;
}

}  // namespace

void make_credentials(const DeployOptions& options, const JobSpec& job) {
  if (options.credentials.empty()) return;
  KeygenOptions keys;
  keys.folder = options.credentials;
  keys.now = std::chrono::duration_cast<std::chrono::seconds>(
                 std::chrono::system_clock::now().time_since_epoch())
                 .count();
  for (const auto& role : roles_of(job))
    for (int index = 0; index < role.count && role.job != "evaluator"; ++index)
      keys.tasks.push_back({role.job, index});
  generate_keys(keys);
}

std::vector<Role> roles_of(const JobSpec& job) {
  std::vector<Role> roles;
  const auto add = [&roles](const char* name, int count) {
    if (count > 0) roles.push_back({name, count});
  };
  add("ps", job.ps);
  add("chief", job.chief ? 1 : 0);
  add("worker", job.workers - (job.chief ? 1 : 0));
  add("evaluator", job.evaluator ? 1 : 0);
  return roles;
}

std::string job_name(const DeployOptions& options, const JobSpec& job) {
  const std::string name = options.name.empty() ? name_of_program(job) : options.name;
  std::size_t longest = 0;
  for (const auto& role : roles_of(job))
    longest = std::max(longest, fmt::format("{}-{}-{}", name, role.job, role.count - 1).size());
  if (is_label(name) && longest <= longest_label) return name;
  throw UsageError(
      fmt::format("--name: expected lower-case letters, digits and '-', a letter first and no '-' last, "
                  "short enough for "
                  "'NAME-worker-N' to have at most {} characters; got '{}'",
                  longest_label, name));
}

JsonTree variable(const std::string& name, const std::string& value) {
  return JsonTree::Object{{"name", name}, {"value", kubernetes_text(value)}};
}

JsonTree container(const std::string& name, const Role& role, const DeployOptions& options,
                   const JobSpec& job, JsonTree::List variables) {
  JsonTree::List command, mounts;
  for (const auto& word : job.command) command.emplace_back(kubernetes_text(word));
  if (has_secret(role, options)) {
    variables.push_back(variable("ACTORFLOW_CREDENTIALS", credentials_path));
    mounts.push_back(
        JsonTree::Object{{"name", "credentials"}, {"mountPath", credentials_path}, {"readOnly", true}});
  }
  if (!options.claim.empty())
    mounts.push_back(JsonTree::Object{{"name", "claim"}, {"mountPath", claim_of(options).path}});
  if (!job.folders.data.empty()) variables.push_back(variable("ACTORFLOW_DATA_DIR", job.folders.data));
  if (!job.folders.output.empty())
    variables.push_back(variable("ACTORFLOW_OUTPUT_DIR", job.folders.output));
  for (const auto& [key, value] : job.environment) variables.push_back(variable(key, value));
  JsonTree::Object made{
      {"name", name},
      {"image", options.image},
      {"command", std::move(command)},
      {"ports", JsonTree::List{JsonTree::Object{{"name", "tfjob-port"}, {"containerPort", task_port}}}},
      {"env", std::move(variables)}};
  if (!mounts.empty()) made.emplace_back("volumeMounts", std::move(mounts));
  if (!job.folders.work.empty()) made.emplace_back("workingDir", job.folders.work);
  const bool trains = role.job == "worker" || role.job == "chief";
  if (job.num_gpus.value_or(0) > 0 && trains)
    made.emplace_back("resources",
                      JsonTree::Object{{"limits", JsonTree::Object{{"nvidia.com/gpu",
                                                                    std::to_string(*job.num_gpus)}}}});
  return made;
}

JsonTree::List volumes(const std::string& name, const Role& role, const DeployOptions& options) {
  JsonTree::List list;
  if (has_secret(role, options))
    list.push_back(JsonTree::Object{{"name", "credentials"},
                                    {"secret", JsonTree::Object{{"secretName", secret_name(name, role)},
                                                                {"defaultMode", owner_may_read}}}});
  if (!options.claim.empty())
    list.push_back(JsonTree::Object{
        {"name", "claim"},
        {"persistentVolumeClaim", JsonTree::Object{{"claimName", claim_of(options).name}}}});
  return list;
}

JsonTree::List secrets(const std::string& name, const DeployOptions& options, const JobSpec& job) {
  JsonTree::List list;
  make_credentials(options, job);
  for (const auto& role : roles_of(job)) {
    if (!has_secret(role, options)) continue;
    JsonTree data = files_of(role, options.credentials);
    if (data.to_string().size() > largest_secret)
      throw UsageError(
          fmt::format("--tls: the credentials of {} {} tasks are too large for a Secret, which has at "
                      "most 1 MiB; make fewer tasks",
                      role.count, role.job));
    list.push_back(JsonTree::Object{
        {"apiVersion", "v1"},
        {"kind", "Secret"},
        {"metadata", JsonTree::Object{{"name", secret_name(name, role)}, {"labels", labels(name)}}},
        {"type", "Opaque"},
        {"data", std::move(data)}});
  }
  return list;
}

JsonTree labels(const std::string& name) {
  return JsonTree::Object{{"app.kubernetes.io/name", "actorflow"}, {"app.kubernetes.io/instance", name}};
}

std::string manifest(JsonTree::List items) {
  return JsonTree(JsonTree::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}})
      .to_string(2);
}

}  // namespace actorflow
