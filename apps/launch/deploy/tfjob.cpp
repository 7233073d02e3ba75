#include <fmt/format.h>

#include "apps/launch/deploy/formats.h"
#include "apps/launch/deploy/manifest_parts.h"

namespace actorflow {
namespace {

// The role as the operator spells it.
std::string type_of(const Role& role) {
  if (role.job == "ps") return "PS";
  if (role.job == "chief") return "Chief";
  if (role.job == "evaluator") return "Evaluator";
  return "Worker";
}

// The operator looks for the container "tensorflow" and its port, and gives it a TF_CONFIG.
JsonTree replicas(const std::string& name, const Role& role, const DeployOptions& options,
                  const JobSpec& job) {
  JsonTree::Object spec{{"containers", JsonTree::List{container("tensorflow", role, options, job, {})}}};
  if (auto mounted = volumes(name, role, options); !mounted.empty())
    spec.emplace_back("volumes", std::move(mounted));
  return JsonTree::Object{
      {"replicas", role.count},
      {"restartPolicy", "ExitCode"},  // from 128 on again; below, the job has failed
      {"template", JsonTree::Object{{"metadata", JsonTree::Object{{"labels", labels(name)}}},
                                    {"spec", std::move(spec)}}}};
}

}  // namespace

std::string tfjob_manifest(const DeployOptions& options, const JobSpec& job) {
  const std::string name = job_name(options, job);
  JsonTree::List items = secrets(name, options, job);
  JsonTree::Object types;
  for (const auto& role : roles_of(job))
    types.emplace_back(type_of(role), replicas(name, role, options, job));
  items.push_back(JsonTree::Object{
      {"apiVersion", "kubeflow.org/v1"},
      {"kind", "TFJob"},
      {"metadata", JsonTree::Object{{"name", name}, {"labels", labels(name)}}},
      {"spec", JsonTree::Object{{"runPolicy", JsonTree::Object{{"cleanPodPolicy", "Running"},
                                                               {"backoffLimit", job.restarts}}},
                                {"tfReplicaSpecs", std::move(types)}}}});
  return manifest(std::move(items));
}

}  // namespace actorflow
