// A job on all tasks of a cluster.
#include <spdlog/spdlog.h>

#include <ranges>
#include <utility>

#include "actors/jobs/context/engine_options.h"
#include "actors/jobs/engine/job_over.h"
#include "actors/jobs/job.h"
#include "actors/jobs/outputs/outputs.h"
#include "actors/jobs/run_job.h"
#include "actors/task/server.h"
#include "dataflow/values/joined.h"
#include "schema/records/record_codec.h"

namespace actorflow {
namespace {

// What the first task says to the others. The rest of JobOptions is each task's own.
struct SharedTerms {
  std::string job;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::uint64_t split_bytes = 0, partition_bytes = 0, partitions = 0;
  Compression compression = Compression::none;
  bool overwrite = false;
};

std::vector<std::byte> encoded(const SharedTerms& terms) {
  std::vector<std::byte> bytes(encoded_size(terms));
  encode(terms, bytes.data());
  return bytes;
}

SharedTerms terms_of(const std::string& job, const JobOptions& options) {
  return {job,
          {options.parameters.begin(), options.parameters.end()},
          options.split_bytes,
          options.partition_bytes,
          options.partitions,
          options.compression,
          options.overwrite};
}

JobOptions with(const SharedTerms& terms, JobOptions options) {
  options.parameters = {terms.parameters.begin(), terms.parameters.end()};
  options.split_bytes = terms.split_bytes;
  options.partition_bytes = terms.partition_bytes;
  options.partitions = static_cast<std::size_t>(terms.partitions);
  options.compression = terms.compression;
  options.overwrite = terms.overwrite;
  options.explain = false;
  options.reporter = nullptr;
  return options;
}

void run_coordinating(Job& job, const JobFunction& function) {
  JobEngine& engine = job.state()->engine();
  try {
    run_function(job, function);
  } catch (const Error& error) {
    engine.end(error.status());
    throw;
  } catch (const std::exception& error) {
    engine.end({Code::unknown, error.what()});
    throw;
  }
  engine.end();
}

std::map<std::string, std::int64_t> coordinate(std::unique_ptr<JobEngine> engine, const JobTable& jobs,
                                               const std::string& name, const JobOptions& options,
                                               const JobWatch& watch) {
  engine->begin(encoded(terms_of(name, options)));
  Job job(options, std::move(engine));
  const auto watched = watch ? watch(job) : nullptr;
  run_coordinating(job, find_job(jobs, name));
  return job.counters();
}

// Throws JobBeginsAnew when the coordinator has begun another run.
std::map<std::string, std::int64_t> follow(std::unique_ptr<JobEngine> engine, const JobTable& jobs,
                                           const JobOptions& options, const JobWatch& watch) {
  const auto contents = engine->join();
  if (!contents) return {};
  RecordReader reader(*contents);
  const auto terms = decode<SharedTerms>(reader);
  Job job(with(terms, options), std::move(engine));
  const auto watched = watch ? watch(job) : nullptr;
  run_function(job, find_job(jobs, terms.job));
  job.state()->engine().end();
  return job.counters();
}

}  // namespace

JobFunction find_job(const JobTable& jobs, const std::string& name) {
  if (const auto found = jobs.find(name); found != jobs.end()) return found->second;
  const std::string names = joined(std::views::keys(jobs), ", ");
  throw invalid_argument(name.empty() ? "say which job: " + names
                                      : "there is no job '" + name + "': expected one of " + names);
}

void run_function(Job& job, const JobFunction& function) {
  expect_output(*job.state());
  try {
    function(job);
  } catch (const PlanIsComplete&) {
    return job.state()->parameters().close();  // it may not have asked for its output yet
  }
  job.state()->parameters().expect_all_asked();
}

std::map<std::string, std::int64_t> run_job(Server& server, const JobTable& jobs,
                                            const std::string& name, const JobOptions& options,
                                            const JobWatch& watch) {
  JobOptions named = options;
  named.name = name;
  JobEngineOptions of_engine = engine_options(named);
  of_engine.patience = std::chrono::milliseconds(server.connect_timeout_ms());
  while (true) {
    auto engine = std::make_unique<JobEngine>(server.runtime(), of_engine, server.context());
    if (engine->coordinates()) return coordinate(std::move(engine), jobs, name, options, watch);
    try {
      return follow(std::move(engine), jobs, options, watch);
    } catch (const JobIsOver&) {
      return {};
    } catch (const JobBeginsAnew&) {
      spdlog::info("{}: the job begins anew", server.name().to_string());
    }
  }
}

}  // namespace actorflow
