#include "actors/jobs/program/job_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "actors/jobs/program/parameter_help.h"
#include "actors/runtime/threaded_runtime.h"
#include "dataflow/cluster/task_config.h"
#include "schema/cluster_json.h"
#include "schema/environment/task_from_environment.h"

namespace actorflow {
namespace {

// What says which task of which cluster this process is.
struct ClusterTexts {
  std::string cluster;
  std::string job_name = "worker";
  int task_index = -1;
};

const std::map<std::string, Compression>& compressions() {
  static const std::map<std::string, Compression> by_name{{"none", Compression::none},
                                                          {"gzip", Compression::gzip},
                                                          {"zstd", Compression::zstd},
                                                          {"lz4", Compression::lz4}};
  return by_name;
}

// Takes one of the kinds that `names` lists.
void add_compression(Command& command, const std::string& flag, Compression& into,
                     const std::string& names, const std::vector<Compression>& kinds,
                     const std::string& help) {
  const auto is_one = [kinds, names](const std::string& name) {
    const auto found = compressions().find(name);
    const bool known = found != compressions().end() && std::ranges::count(kinds, found->second) > 0;
    return known ? "" : "expected " + names + ", got " + name;
  };
  command
      .action(
          flag, [&into](const std::string& name) { into = compressions().at(name); },
          help + ": " + names)
      .check({"", is_one});
}

// Which of two values is meant nobody can say.
void give(std::map<std::string, std::string>& parameters, const std::string& name, std::string value) {
  const auto [given, is_first] = parameters.try_emplace(name, std::move(value));
  if (!is_first)
    throw invalid_argument(fmt::format("--{} was given twice, as '{}' and as '{}': give it once", name,
                                       given->second, value));
}

// A parameter that many jobs have. An empty one is as good as none.
void add_parameter(Command& command, JobFlags& flags, const std::string& name, const std::string& help) {
  command
      .action(
          "--" + name,
          [&given = flags.options.parameters, name](const std::string& value) {
            if (!value.empty()) give(given, name, value);
          },
          help)
      .each_time();  // so that both values can be named
}

// "--k 16" and "--k=16" of what is the job's own.
void take_parameters(const std::vector<std::string>& rest,
                     std::map<std::string, std::string>& parameters) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& flag = rest[i];
    if (!flag.starts_with("--"))
      throw invalid_argument(fmt::format(
          "'{}' is no flag: parameters are given as --name value, and a job's name before all of them",
          flag));
    const auto equals = flag.find('=');
    if (equals == flag.npos && i + 1 == rest.size())
      throw invalid_argument(fmt::format("{} has no value", flag));
    if (equals == flag.npos)
      give(parameters, flag.substr(2), rest[++i]);
    else
      give(parameters, flag.substr(2, equals - 2), flag.substr(equals + 1));
  }
}

// The job is the first argument, if it is no flag; of a program of one job it may be left out. Not an
// option, which would take the value of a parameter for it.
std::string take_job(std::vector<std::string>& arguments, const JobTable& jobs) {
  if (arguments.empty() || arguments[0].starts_with("-"))
    return jobs.size() == 1 ? jobs.begin()->first : "";
  std::string name = std::move(arguments[0]);
  arguments.erase(arguments.begin());
  return name;
}

// Memory, threads, and the parts and partitions that a job is cut into.
void add_sizes(Command& command, JobOptions& options) {
  command
      .option("--memory", options.memory_bytes,
              "Memory for tables, buffers and records on their way to other parts, such as 512MB; "
              "what is more goes to disk")
      .size();
  command.option("--tasks", options.threads, "How many parts run at a time; 0: one per core")
      .check(in_range(std::size_t{0}, most_job_threads))
      .show_default();
  command
      .option("--partitions", options.partitions,
              "How many partitions records are divided into by key, which is also the number of the "
              "result's files; 0: by the bytes of the input")
      .check(in_range(std::size_t{0}, most_job_partitions))
      .show_default();
  command.option("--split_bytes", options.split_bytes, "Size of the parts that input files are cut into")
      .check(positive_number())
      .size();
  command.option("--partition_bytes", options.partition_bytes, "Bytes of input for each partition")
      .check(positive_number())
      .size();
  command.option(
      "--spill_folder", options.spill_folder,
      "Folder for what does not fit into memory, or several with commas between them, used in "
      "turn; without it TMPDIR, or /tmp");
  command.option("--spill_bytes", options.spill_bytes, "Most bytes in the folders of --spill_folder")
      .size();
}

// What lets a job go on after a loss, and in spite of bad records.
void add_recovery(Command& command, JobOptions& options) {
  command.option(
      "--work_folder", options.work_folder,
      "Keeps what finished parts have made, in a folder that all processes see: for --resume, "
      "until the job has ended");
  command.flag("--resume", options.resume,
               "Go on where the job with this --work_folder was lost; begin if there is none");
  command.option("--skip_bad_records", options.skip_bad_records,
                 "How many records may be left out because one of the job's functions has thrown");
}

// How files are written, and records sent.
void add_writing(Command& command, JobOptions& options) {
  add_compression(command, "--compress", options.compression, "none, gzip, zstd or lz4",
                  {Compression::none, Compression::gzip, Compression::zstd, Compression::lz4},
                  "The files of the result");
  add_compression(command, "--compress_shuffle", options.shuffle_compression, "lz4, zstd or none",
                  {Compression::none, Compression::zstd, Compression::lz4},
                  "Records on their way to other machines, where that shrinks them by a fifth");
  command.flag(
      "--overwrite", options.overwrite,
      "Replace what an earlier job has written to the output folder; without --resume, forget the "
      "one in the work folder");
}

void add_job_flags(Command& command, JobFlags& flags) {
  JobOptions& options = flags.options;
  add_parameter(
      command, flags, "input",
      "Input files: a file, a folder, a pattern such as 'books/*.txt', or several of them with commas");
  add_parameter(command, flags, "output", "Folder for the result's files; it is new or empty");
  add_sizes(command, options);
  add_recovery(command, options);
  add_writing(command, options);
  command.flag("--explain", options.explain,
               "Print the stages up to the first result instead of running them");
  command.flag("--json", flags.json, "Progress as JSON, an object per line");
  command.flag("--quiet", flags.quiet, "No progress and no notes, only warnings");
}

void add_cluster_flags(Command& command, JobFlags& flags, ClusterTexts& texts, ServerOptions& server) {
  const char* group = "On several machines";
  command
      .option(
          "--cluster", texts.cluster,
          "The same program's processes: host:port,host:port,..., or a cluster as JSON, or its file. "
          "The first one is given the job; the others learn it from there")
      .in_group(group);
  command.option("--task_index", texts.task_index, "Which of them this process is, from 0 on")
      .check(nonnegative_number())
      .in_group(group);
  command.option("--job_name", texts.job_name, "Of which job of the cluster")
      .show_default()
      .in_group(group);
  command
      .option("--connect_timeout_ms", server.connect_timeout_ms, "How long the first one is waited for")
      .check(nonnegative_number())
      .show_default()
      .in_group(group);
  command
      .option("--program_timeout_ms", flags.options.program_timeout_ms,
              "How long the first one waits for another one that is there, but does not come to its "
              "share of a dataset; and another one for the first one, until that comes to a stage")
      .check(positive_number())
      .show_default()
      .in_group(group);
  command
      .option("--heartbeat_timeout_ms", server.heartbeat_timeout_ms,
              "After so long a silence a process counts as lost")
      .check(nonnegative_number())
      .show_default()
      .in_group(group);
  command
      .option("--credentials", server.credentials,
              "Folder of 'actorflow keygen': all connections are of mutual TLS then")
      .from_environment("ACTORFLOW_CREDENTIALS")
      .in_group(group);
  command
      .flag("--insecure", server.insecure,
            "Without credentials: listen even where other machines reach it. Whoever does can read and "
            "change everything")
      .in_group(group);
}

bool is_host_list(const std::string& text) {
  return text.find('{') == text.npos && text.find(':') != text.npos && text.find('/') == text.npos;
}

ClusterSpec cluster_of(const std::string& text, const std::string& job_name) {
  if (!is_host_list(text)) return read_cluster(text);
  return ClusterSpec({{job_name, ClusterSpec::parse_hosts("--cluster", text)}});
}

// By the flags, or by the environment; none if neither names a task.
std::optional<TaskConfig> task_of(const ClusterTexts& texts) {
  if (!texts.cluster.empty()) {
    if (texts.task_index < 0)
      throw invalid_argument("--cluster was given: say with --task_index which of its tasks this is");
    TaskConfig config;
    config =
        TaskConfig::make(cluster_of(texts.cluster, texts.job_name), {texts.job_name, texts.task_index});
    return config;
  }
  if (texts.task_index >= 0) throw invalid_argument("--task_index was given without --cluster");
  return task_from_environment();
}

}  // namespace

JobFlags parse_job_flags(CommandLine& line, std::vector<std::string> arguments, const JobTable& jobs) {
  JobFlags flags;
  ClusterTexts texts;
  ServerOptions server;
  flags.job = take_job(arguments, jobs);
  add_job_flags(line, flags);
  add_cluster_flags(line, flags, texts, server);
  std::vector<std::string> parameters;
  line.unknown(parameters);
  line.version(ACTORFLOW_VERSION);
  line.footer([&jobs, job = flags.job] {
    return "Before the flags stands the job's name, where a program has several.\n" +
           parameter_help(jobs, job);
  });
  line.parse(std::move(arguments));
  take_parameters(parameters, flags.options.parameters);
  if (flags.options.resume && flags.options.work_folder.empty())
    throw invalid_argument("--resume: say with --work_folder where the job has kept what it has done");
  flags.options.name = flags.job;
  if (const auto task = task_of(texts)) {
    server.cluster = task->cluster;
    server.job = task->task.job;
    server.task = task->task.index;
    if (flags.options.threads == 0) flags.options.threads = static_cast<std::size_t>(num_cores());
    // One more than run parts: it gives other tasks what they ask for meanwhile.
    server.num_threads = static_cast<int>(flags.options.threads) + 1;
    flags.server = std::move(server);
  }
  return flags;
}

}  // namespace actorflow
