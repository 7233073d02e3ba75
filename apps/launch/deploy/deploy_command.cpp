#include "apps/launch/deploy/deploy_command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <regex>

#include "apps/launch/deploy/formats.h"
#include "apps/usage/usage.h"
#include "schema/private_file.h"

namespace actorflow {
namespace {

using Format = std::string (*)(const DeployOptions&, const JobSpec&);

const std::map<std::string, Format>& formats() {
  static const std::map<std::string, Format> all{{"docker", dockerfile},
                                                 {"kubernetes", kubernetes_manifest},
                                                 {"slurm", slurm_batch_file},
                                                 {"tfjob", tfjob_manifest}};
  return all;
}

void check(const DeployOptions& options, const JobSpec& job) {
  static const std::regex variable("[A-Za-z_][A-Za-z0-9_]*");
  if (job.command.empty())
    throw UsageError(
        "expected a program and its arguments after the flags, such as 'trainer --epochs 2'");
  if (job.hybrid)
    throw UsageError(
        fmt::format("--hybrid is for hosts that launch knows; with --to {} say how many there are: "
                    "--ps N -np N",
                    options.to));
  if (job.is_elastic())
    throw UsageError(fmt::format(
        "--min, --max and --host_discovery: with --to {} the number of workers is fixed by -np",
        options.to));
  for (const auto& [name, value] : job.environment)
    if (!std::regex_match(name, variable))
      throw UsageError(fmt::format("--env: expected a name of letters, digits and '_', got '{}'", name));
  const bool is_manifest = options.to == "kubernetes" || options.to == "tfjob";
  if (is_manifest &&
      (options.image.empty() || options.image.find_first_of(" \t\n") != std::string::npos))
    throw UsageError(
        fmt::format("--image: expected the name of a container image for --to {}, such as "
                    "registry/actorflow:1, got '{}'; --to docker writes how to build one",
                    options.to, options.image));
}

// Warns that strangers may reach the tasks, which listen beyond loopback, if there are no credentials.
void warn_of_strangers(const DeployOptions& options, const JobSpec& job) {
  if (options.to == "docker" || !options.credentials.empty()) return;
  if (std::ranges::count(job.command, "--insecure") > 0) return;
  spdlog::warn(
      "tasks on several machines need credentials: add --tls FOLDER, or give the program --insecure in "
      "a network that nobody else has a way into");
}

// Writes a file that only its owner can read: it may hold keys.
void write_file(const std::string& path, const std::string& text) {
  if (!write_private_file(path, text).empty())
    throw Error(Code::disk_error,
                fmt::format("--output: '{}' cannot be written: {}", path, std::strerror(errno)));
}

}  // namespace

void add_deploy_flags(Command& command, DeployOptions& options) {
  command
      .option("--tls", options.credentials,
              "Folder of credentials for mutual TLS, which gets what it lacks. Each host gets those of "
              "its tasks while the job runs; Kubernetes gets Secrets")
      .check({"FOLDER",
              [](const std::string& folder) { return folder.empty() ? "expected a folder" : ""; }});
  const auto add = [&command](const char* name, auto& value, const char* what) {
    return command.option(name, value, what)
        .in_group("Instead of starting the job: files for what manages the machines");
  };
  add("--to", options.to, "Write a job for kubernetes, tfjob, slurm or docker").check(one_of(formats()));
  const auto add_detail = [&](const char* name, auto& value, const char* what) {
    add(name, value, what).needs("--to");
  };
  add_detail("--output", options.output, "File to write to; without it standard output");
  add_detail("--name", options.name, "The job's name; without it that of the program");
  add_detail("--image", options.image, "Kubernetes: the containers' image");
  add_detail("--claim", options.claim,
             "Kubernetes: NAME:/PATH of a persistent volume claim, for checkpoints");
  add_detail("--time", options.time_limit, "Slurm: the time limit, [DAYS-]HOURS:MINUTES:SECONDS");
}

int deploy_command(const DeployOptions& options, const JobSpec& job) {
  check(options, job);
  std::string text;
  check_usage([&] { text = formats().at(options.to)(options, job); });
  warn_of_strangers(options, job);
  if (!options.output.empty())
    write_file(options.output, text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
  return success;
}

}  // namespace actorflow
