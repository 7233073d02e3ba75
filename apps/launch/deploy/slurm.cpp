#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "apps/launch/deploy/formats.h"
#include "apps/launch/deploy/manifest_parts.h"
#include "apps/launch/shell_words.h"
#include "apps/usage/usage.h"

namespace actorflow {
namespace {

// How long before the time limit ranks are told to save, and how long they may go on after the first
// rank's end.
constexpr int save_s = 60, others_end_s = 60;

void check_for_slurm(const DeployOptions& options, const JobSpec& job) {
  static const std::regex time("([0-9]+-)?[0-9]+(:[0-9]{2}){0,2}");
  if (!options.time_limit.empty() && !std::regex_match(options.time_limit, time))
    throw UsageError(fmt::format("--time: expected MINUTES or [DAYS-]HOURS:MINUTES:SECONDS, got '{}'",
                                 options.time_limit));
  if (job.evaluator || job.chief)
    throw UsageError(fmt::format("--{}: srun starts ranks that are alike, workers and --ps; omit it",
                                 job.evaluator ? "evaluator" : "chief"));
  if (!options.image.empty() || !options.claim.empty())
    throw UsageError("--image and --claim are Kubernetes'; omit them with --to slurm");
}

std::string directives(const std::string& name, const DeployOptions& options, const JobSpec& job) {
  std::string lines;
  const auto add = [&lines](const std::string& line) { lines += "#SBATCH --" + line + "\n"; };
  add("job-name=" + name);
  add(fmt::format("ntasks={}", job.workers + job.ps));
  add("output=" + name + "-%j.log");
  add("open-mode=append");
  add("requeue");
  if (!options.time_limit.empty()) add("time=" + options.time_limit);
  add(fmt::format("signal=TERM@{}", save_s));
  if (job.num_gpus.value_or(0) > 0) add(fmt::format("gpus-per-node={}", *job.num_gpus));
  return lines;
}

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::string exports(const DeployOptions& options, const JobSpec& job) {
  std::string lines;
  const auto add = [&lines](const std::string& name, const std::string& value) {
    lines += "export " + name + "=" + shell_word(value) + "\n";
  };
  if (job.ps > 0) add("ACTORFLOW_PS", std::to_string(job.ps));
  if (!options.credentials.empty()) add("ACTORFLOW_CREDENTIALS", absolute(options.credentials));
  if (!job.folders.data.empty()) add("ACTORFLOW_DATA_DIR", job.folders.data);
  if (!job.folders.output.empty()) add("ACTORFLOW_OUTPUT_DIR", job.folders.output);
  for (const auto& [name, value] : job.environment) add(name, value);
  return lines;
}

// Runs a rank, and notes a status after which a retry is useless: srun then ends the other ranks, and
// returns their status. Only the rank's program handles signals.
constexpr const char* run_rank =
    R"('trap : TERM INT; "$@"; status=$?; ((status == 0 || status > 127)) || echo $status >"$0"; exit $status')";

std::string srun(const JobSpec& job) {
  std::string line = fmt::format("srun --kill-on-bad-exit=1 --wait={}", others_end_s);
  if (!job.folders.work.empty()) line += " " + shell_word("--chdir=" + job.folders.work);
  if (!job.folders.logs.empty()) line += " " + shell_word("--output=" + job.folders.logs + "/%t.log");
  return fmt::format("{} \\\n  bash -c {} \\\n  \"$failed\" {}", line, run_rank,
                     shell_words(job.command));
}

}  // namespace

std::string slurm_batch_file(const DeployOptions& options, const JobSpec& job) {
  check_for_slurm(options, job);
  const std::string name = job_name(options, job);
  make_credentials(options, job);
  return fmt::format(R"(#!/bin/bash
{}# Written by actorflow launch --to slurm. Start the job with sbatch and this file's name; a queue, an account or
# --nodes can stand before the name. All machines need the program, and its folders, at the same paths.
#
# Each rank is told to leave {} s before the time limit, and when a more important job comes: it saves first.
{}failed=$PWD/{}-$SLURM_JOB_ID.failed
rm -f "$failed"
{}
status=$?
if [[ -e $failed ]]; then
  status=$(<"$failed")
  rm "$failed"
fi
if ((status >= 128 && ${{SLURM_RESTART_COUNT:-0}} < {})); then
  echo "status $status: to be started again from the newest checkpoint" >&2
  scontrol requeue "$SLURM_JOB_ID" && sleep {}
fi
exit "$status"
)",
                     directives(name, options, job), save_s, exports(options, job), name, srun(job),
                     job.restarts, others_end_s);
}

}  // namespace actorflow
