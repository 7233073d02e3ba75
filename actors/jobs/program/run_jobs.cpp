#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/jobs/engine/job_failure.h"
#include "actors/jobs/job.h"
#include "actors/jobs/program/console_reporter.h"
#include "actors/jobs/program/job_flags.h"
#include "actors/runtime/exit_status.h"
#include "actors/runtime/standard_output.h"

namespace actorflow {
namespace {

std::atomic<JobEngine*> running_engine{nullptr};
std::atomic<int> handlers{0};  // that may still use what `running_engine` was

// The first Ctrl-C lets the job clean up, the second one ends the process.
void on_signal(int) {
  ++handlers;
  JobEngine* const engine = running_engine.exchange(nullptr);
  if (!engine) _exit(interrupted_run);
  engine->stop();
  --handlers;
}

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// While it lives, a signal stops the job. A handler that has taken the engine, on another thread, is
// waited for.
class Stoppable {
 public:
  explicit Stoppable(JobEngine& engine) { running_engine = &engine; }
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;
  ~Stoppable() {
    running_engine = nullptr;
    while (handlers > 0) std::this_thread::yield();
  }
};

void print(const std::map<std::string, std::int64_t>& counters) {
  for (const auto& [name, count] : counters) fmt::print(stderr, "{}: {}\n", name, count);
}

int explain(const Job& job) {
  std::fputs(to_text(job.plan()).c_str(), stdout);
  if (job.state()->parameters().is_closed() && !job.plan().empty())
    fmt::print("... up to the first result, of stage {}; later rounds, if there are any, depend on it\n",
               job.plan().back().id);
  std::fputs(to_dot(job.plan()).c_str(), stdout);
  return success;
}

int run_alone(const JobFlags& flags, const JobTable& jobs) {
  const JobFunction function = find_job(jobs, flags.job);
  Job job(flags.options);
  const Stoppable stoppable(job.state()->engine());
  run_function(job, function);
  if (flags.options.explain) return explain(job);
  job.end();
  print(job.counters());
  return success;
}

// All tasks know the counters, which are of the whole job: the first one prints them.
int run_task(const JobFlags& flags, const JobTable& jobs) {
  Server server(*flags.server);
  bool is_first = false;
  const auto watch = [&is_first](Job& job) {
    is_first = job.coordinates();
    return std::make_shared<Stoppable>(job.state()->engine());
  };
  const auto counters = run_job(server, jobs, flags.job, flags.options, watch);
  if (is_first) print(counters);
  return success;
}

int run(JobFlags flags, const JobTable& jobs) {
  ConsoleReporter reporter(flags.json);
  if (flags.quiet)
    spdlog::set_level(spdlog::level::warn);
  else
    flags.options.reporter = &reporter;
  return flags.server && !flags.options.explain ? run_task(flags, jobs) : run_alone(flags, jobs);
}

int exit_status_of(const Error& error) {
  if (error.code() == Code::cancelled) return interrupted_run;
  if (error.code() == Code::unavailable || error.code() == Code::deadline_exceeded) return lost_task;
  const bool has_run = dynamic_cast<const JobFailure*>(&error) != nullptr;
  return error.code() == Code::invalid_argument && !has_run ? bad_usage : failed_run;
}

// `who` becomes the job's name, when that is known.
int parse_and_run(CommandLine& line, const std::vector<std::string>& arguments, const JobTable& jobs,
                  std::string& who) {
  try {
    JobFlags flags = parse_job_flags(line, arguments, jobs);
    if (jobs.contains(flags.job)) who = flags.job;
    return run(std::move(flags), jobs);
  } catch (const HelpRequest& help) {
    fmt::print("{}", help.text);
    return success;
  }
}

int status_of(CommandLine& line, const std::vector<std::string>& arguments, const JobTable& jobs) {
  std::string who = line.name();
  try {
    return parse_and_run(line, arguments, jobs, who);
  } catch (const CommandLineError& error) {
    fmt::print(stderr, "{}: error: {}; see {} --help\n", who, error.what(), error.command());
    return bad_usage;
  } catch (const Error& error) {
    fmt::print(stderr, "{}: error: {}\n", who, error.what());
    return exit_status_of(error);
  } catch (const std::exception& error) {
    if (is_of_output(error)) return status_without_output(who, error);
    fmt::print(stderr, "{}: error: {}\n", who, error.what());
    return failed_run;
  }
}

}  // namespace

int run_jobs(int argc, const char* const* argv, const JobTable& jobs) {
  CommandLine line("A map/reduce job of Actorflow", std::filesystem::path(argv[0]).filename().string());
  watch_signals();
  log_to_stderr(line.name());
  return status_with_output(line.name(), status_of(line, {argv + 1, argv + argc}, jobs));
}

}  // namespace actorflow
