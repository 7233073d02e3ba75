#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/jobs/console_reporter.h"
#include "actors/jobs/job.h"

namespace actorflow {
namespace {

enum ExitStatus : int { success = 0, failed = 1, bad_usage = 2, interrupted = 130 };

std::atomic<JobEngine*> running{nullptr};

// The first Ctrl-C lets the job clean up, the second one ends the process.
void on_signal(int) {
  JobEngine* const engine = running.exchange(nullptr);
  if (!engine) _exit(interrupted);
  engine->stop();
}

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

struct Arguments {
  std::string job;
  JobOptions options;
  bool json = false, quiet = false;
};

// "--k 16" and "--k=16" of what is the job's own.
void take_parameters(const std::vector<std::string>& rest,
                     std::map<std::string, std::string>& parameters) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& flag = rest[i];
    if (!flag.starts_with("--"))
      throw invalid_argument(fmt::format("'{}' is no flag: parameters are given as --name value", flag));
    const auto equals = flag.find('=');
    if (equals == flag.npos && i + 1 == rest.size())
      throw invalid_argument(fmt::format("{} has no value", flag));
    if (equals == flag.npos)
      parameters[flag.substr(2)] = rest[++i];
    else
      parameters[flag.substr(2, equals - 2)] = flag.substr(equals + 1);
  }
}

// The job is the first argument, if it is no flag; of a program of one job it may be left out. Not an
// option of CLI11, which would take the value of a parameter for it.
std::string take_job(std::vector<std::string>& arguments,
                     const std::map<std::string, JobFunction>& jobs) {
  if (arguments.empty() || arguments[0].starts_with("-"))
    return jobs.size() == 1 ? jobs.begin()->first : "";
  std::string name = std::move(arguments[0]);
  arguments.erase(arguments.begin());
  return name;
}

void check_job(const std::string& name, const std::map<std::string, JobFunction>& jobs) {
  if (jobs.contains(name)) return;
  std::vector<std::string> names;
  for (const auto& [known, function] : jobs) names.push_back(known);
  throw invalid_argument(name.empty() ? fmt::format("say which job: {}", fmt::join(names, ", "))
                                      : fmt::format("there is no job '{}': expected one of {}", name,
                                                    fmt::join(names, ", ")));
}

void add_flags(CLI::App& app, Arguments& arguments, std::string& input, std::string& output) {
  JobOptions& options = arguments.options;
  const CLI::AsSizeValue bytes(false);
  app.add_option("--input", input,
                 "Files: a file, a folder, a pattern such as 'books/*.txt', or several with commas");
  app.add_option("--output", output, "A new folder for the files of the result");
  app.add_option("--memory", options.memory_bytes,
                 "Of tables, buffers and what parts hand over, such as 512MB; the rest goes to disk")
      ->transform(bytes);
  app.add_option("--tasks", options.threads, "Parts at a time; 0: one per core")->capture_default_str();
  app.add_option("--partitions", options.partitions,
                 "Into which records are divided by key, and files of the result; 0: by bytes")
      ->capture_default_str();
  app.add_option("--split_bytes", options.split_bytes, "Of which files are cut into parts")
      ->transform(bytes);
  app.add_option("--partition_bytes", options.partition_bytes, "Of input for one partition")
      ->transform(bytes);
  app.add_option("--spill_folder", options.spill_folder,
                 "Where goes what does not fit into memory; TMPDIR or /tmp");
  app.add_option("--spill_bytes", options.spill_bytes, "How much may lie there")->transform(bytes);
  app.add_option("--skip_bad_records", options.skip_bad_records,
                 "How many records may be left out for which the job's functions fail");
  app.add_flag("--overwrite", options.overwrite,
               "Replace what an earlier job has written to the output folder");
  app.add_flag("--explain", options.explain, "Print the stages instead of running them");
  app.add_flag("--json", arguments.json, "Progress as JSON, an object per line");
  app.add_flag("--quiet", arguments.quiet, "No progress");
  app.set_version_flag("--version", app.get_name() + " " + ACTORFLOW_VERSION);
  app.allow_extras();
  app.footer(
      "Before the flags stands the job's name, where a program has several. What else a job asks for is "
      "given as\n"
      "--name value.");
}

// While it lives, a signal stops the engine.
class Stoppable {
 public:
  explicit Stoppable(JobEngine& engine) { running = &engine; }
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;
  ~Stoppable() { running = nullptr; }
};

void run_function(Job& job, JobFunction function) {
  const Stoppable stoppable(job.state()->engine());
  try {
    function(job);
  } catch (const PlanIsComplete&) {
  }
  job.state()->expect_known_parameters();
}

int run(const Arguments& arguments, JobFunction function) {
  ConsoleReporter reporter(arguments.json);
  JobOptions options = arguments.options;
  if (!arguments.quiet) options.reporter = &reporter;
  Job job(options);
  run_function(job, function);
  if (options.explain) {
    std::fputs(to_text(job.plan()).c_str(), stdout);
    std::fputs(to_dot(job.plan()).c_str(), stdout);
    return success;
  }
  for (const auto& [name, count] : job.counters()) fmt::print(stderr, "{}: {}\n", name, count);
  return success;
}

}  // namespace

int run_jobs(int argc, const char* const* argv, const std::map<std::string, JobFunction>& jobs) {
  Arguments arguments;
  std::string input, output;
  std::vector<std::string> rest(argv + 1, argv + argc);
  arguments.job = take_job(rest, jobs);
  CLI::App app("A map/reduce job of Actorflow", std::filesystem::path(argv[0]).filename().string());
  add_flags(app, arguments, input, output);
  try {
    app.parse(std::vector<std::string>(rest.rbegin(), rest.rend()));  // CLI11 takes them from the end
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? success : bad_usage;
  }
  watch_signals();
  const std::string who = arguments.job.empty() ? app.get_name() : arguments.job;
  try {
    check_job(arguments.job, jobs);
    take_parameters(app.remaining(), arguments.options.parameters);
    if (!input.empty()) arguments.options.parameters["input"] = input;
    if (!output.empty()) arguments.options.parameters["output"] = output;
    return run(arguments, jobs.at(arguments.job));
  } catch (const Error& error) {
    fmt::print(stderr, "{}: error: {}\n", who, error.what());
    if (error.code() == Code::cancelled) return interrupted;
    return error.code() == Code::invalid_argument ? bad_usage : failed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", who, error.what());
    return failed;
  }
}

}  // namespace actorflow
