// The commands for jobs that run: attach and stop.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/launch/run/job_client.h"

namespace actorflow {
namespace {

void list_jobs() {
  const auto jobs = running_jobs();
  for (const auto& job : jobs) fmt::print("{}\n", job);
  if (jobs.empty()) fmt::print(stderr, "no job runs here\n");
}

// A command that does something with a job, or without a name lists those that run.
void add_job_control(Command& program, const char* name, const char* what,
                     int (*act)(const std::string&)) {
  auto job = std::make_shared<std::string>();
  Command command = program.command(name, fmt::format("{}; without a number list those that run", what));
  command.option("job", *job, "The job's number, as launch has said it");
  command.runs([job, act] {
    if (!job->empty()) return act(*job);
    list_jobs();
    return int{success};
  });
}

}  // namespace

void add_attach_command(Command& program) {
  add_job_control(
      program, "attach",
      "Print what a job of actorflow launch prints from now on, until it ends, and end with its status; "
      "Ctrl-C leaves the job alone",
      [](const std::string& job) { return follow_job(job); });
}

void add_stop_command(Command& program) {
  add_job_control(program, "stop", "End a job of actorflow launch", [](const std::string& job) {
    stop_job(job);
    fmt::print("job {} has ended\n", job);
    return int{success};
  });
}

}  // namespace actorflow
