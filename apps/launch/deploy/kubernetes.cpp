#include <fmt/format.h>

#include "apps/launch/deploy/formats.h"
#include "apps/launch/deploy/manifest_parts.h"

namespace actorflow {
namespace {

constexpr const char* index_annotation =
    "metadata.annotations['batch.kubernetes.io/job-completion-index']";
constexpr int master_port = 29'500;  // for programs in the manner of torchrun
// A pod that is told to leave saves first (apps/cli/interrupts.h).
constexpr int grace_s = 30;

// The statuses after which a pod is tried again: signals, and a lost task. Any other ends the job.
const JsonTree::List& statuses_to_try_again() {
  static const JsonTree::List all{129, 130, 134, 135, 136, 137, 138, 139, 141, 143};
  return all;
}

// The name by which other pods reach this one, while the Service is there.
std::string host(const std::string& name, const Role& role, int index) {
  return fmt::format("{0}-{1}-{2}.{0}", name, role.job, index);
}

// TF_CONFIG, which all pods of a role share: Kubernetes puts a pod's index in the place of $(RANK).
std::string tf_config(const std::string& name, const JobSpec& job, const Role& role) {
  JsonTree::Object cluster;
  for (const auto& other : roles_of(job)) {
    if (other.job == "evaluator") continue;
    JsonTree::List addresses;
    for (int index = 0; index < other.count; ++index)
      addresses.emplace_back(fmt::format("{}:{}", host(name, other, index), task_port));
    cluster.emplace_back(other.job, std::move(addresses));
  }
  return fmt::format(R"({{"cluster": {}, "task": {{"type": "{}", "index": $(RANK)}}}})",
                     JsonTree(std::move(cluster)).to_string(), role.job);
}

JsonTree::List variables_of(const std::string& name, const JobSpec& job, const Role& role) {
  JsonTree::List list;
  list.push_back(JsonTree::Object{
      {"name", "RANK"},
      {"valueFrom", JsonTree::Object{{"fieldRef", JsonTree::Object{{"fieldPath", index_annotation}}}}}});
  list.push_back(JsonTree::Object{{"name", "TF_CONFIG"}, {"value", tf_config(name, job, role)}});
  if (role.job != "worker" || job.chief) return list;
  list.push_back(variable("WORLD_SIZE", std::to_string(role.count)));
  list.push_back(variable("LOCAL_RANK", "0"));
  list.push_back(variable("LOCAL_WORLD_SIZE", "1"));
  list.push_back(variable("MASTER_ADDR", host(name, role, 0)));
  list.push_back(variable("MASTER_PORT", std::to_string(master_port)));
  return list;
}

JsonTree pod_failure_policy() {
  const JsonTree ended_badly =
      JsonTree::Object{{"action", "FailJob"},
                       {"onExitCodes", JsonTree::Object{{"containerName", "actorflow"},
                                                        {"operator", "NotIn"},
                                                        {"values", statuses_to_try_again()}}}};
  // The end of a pod that Kubernetes itself evicted, for a more important pod or a machine that is
  // drained, does not count as a restart.
  const JsonTree disrupted = JsonTree::Object{
      {"action", "Ignore"},
      {"onPodConditions",
       JsonTree::List{JsonTree::Object{{"type", "DisruptionTarget"}, {"status", "True"}}}}};
  return JsonTree::Object{{"rules", JsonTree::List{disrupted, ended_badly}}};
}

JsonTree pod(const std::string& name, const Role& role, const DeployOptions& options,
             const JobSpec& job) {
  JsonTree::Object spec{{"subdomain", name},
                        {"restartPolicy", "Never"},
                        {"terminationGracePeriodSeconds", grace_s},
                        {"containers", JsonTree::List{container("actorflow", role, options, job,
                                                                variables_of(name, job, role))}}};
  if (auto mounted = volumes(name, role, options); !mounted.empty())
    spec.emplace_back("volumes", std::move(mounted));
  return JsonTree::Object{{"metadata", JsonTree::Object{{"labels", labels(name)}}},
                          {"spec", std::move(spec)}};
}

JsonTree indexed_job(const std::string& name, const Role& role, const DeployOptions& options,
                     const JobSpec& job) {
  return JsonTree::Object{{"apiVersion", "batch/v1"},
                          {"kind", "Job"},
                          {"metadata", JsonTree::Object{{"name", fmt::format("{}-{}", name, role.job)},
                                                        {"labels", labels(name)}}},
                          {"spec", JsonTree::Object{{"completionMode", "Indexed"},
                                                    {"completions", role.count},
                                                    {"parallelism", role.count},
                                                    {"backoffLimit", job.restarts},
                                                    {"podFailurePolicy", pod_failure_policy()},
                                                    {"template", pod(name, role, options, job)}}}};
}

// Gives pods their names before they are ready: tasks look for each other while they start.
JsonTree headless_service(const std::string& name) {
  return JsonTree::Object{
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata", JsonTree::Object{{"name", name}, {"labels", labels(name)}}},
      {"spec", JsonTree::Object{
                   {"clusterIP", "None"},
                   {"publishNotReadyAddresses", true},
                   {"selector", labels(name)},
                   {"ports", JsonTree::List{JsonTree::Object{{"name", "task"}, {"port", task_port}}}}}}};
}

}  // namespace

std::string kubernetes_manifest(const DeployOptions& options, const JobSpec& job) {
  const std::string name = job_name(options, job);
  JsonTree::List items{headless_service(name)};
  for (auto& secret : secrets(name, options, job)) items.push_back(std::move(secret));
  for (const auto& role : roles_of(job)) items.push_back(indexed_job(name, role, options, job));
  return manifest(std::move(items));
}

}  // namespace actorflow
