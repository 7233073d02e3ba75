#include "actors/jobs/context/engine_options.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void expect_at_least_1(const char* option, auto value) {
  if (value < 1)
    throw invalid_argument(fmt::format("JobOptions::{}: expected at least 1, got {}", option, value));
}

void expect_at_most(const char* option, std::size_t most, std::size_t value) {
  if (value > most)
    throw invalid_argument(
        fmt::format("JobOptions::{}: expected at most {}, got {}", option, most, value));
}

// What no job can run with.
void expect_valid(const JobOptions& options) {
  expect_at_least_1("split_bytes", options.split_bytes);
  expect_at_least_1("partition_bytes", options.partition_bytes);
  expect_at_least_1("program_timeout_ms", options.program_timeout_ms);
  expect_at_most("threads", most_job_threads, options.threads);
  expect_at_most("partitions", most_job_partitions, options.partitions);
  if (options.shuffle_compression == Compression::gzip)
    throw invalid_argument("JobOptions::shuffle_compression: expected none, lz4 or zstd, got gzip");
}

// On which what an earlier run has made depends.
std::vector<std::string> terms_of(const JobOptions& options) {
  std::vector<std::string> terms{"job " + options.name};
  for (const auto& [name, value] : options.parameters)
    terms.push_back(fmt::format("--{} {}", name, value));
  terms.push_back(fmt::format("--split_bytes {}", options.split_bytes));
  terms.push_back(fmt::format("--partition_bytes {}", options.partition_bytes));
  terms.push_back(fmt::format("--partitions {}", options.partitions));
  terms.push_back(fmt::format("--compress {}", options.compression == Compression::none
                                                   ? "none"
                                                   : extension_of(options.compression)));
  return terms;
}

}  // namespace

JobEngineOptions engine_options(const JobOptions& options) {
  expect_valid(options);
  const char* temporary = std::getenv("TMPDIR");
  JobEngineOptions engine;
  engine.memory_bytes = options.memory_bytes;
  engine.spill_folder = !options.spill_folder.empty() ? options.spill_folder
                        : temporary                   ? temporary
                                                      : "/tmp";
  engine.spill_bytes = options.spill_bytes;
  engine.records_on_disk = options.records_on_disk;
  engine.slots = options.threads;
  engine.shuffle_compression = options.shuffle_compression;
  engine.skip_bad_records = options.skip_bad_records;
  engine.reporter = options.reporter;
  engine.work_folder = options.explain ? "" : options.work_folder;
  engine.resume = options.resume;
  engine.overwrite = options.overwrite;
  engine.terms = terms_of(options);
  engine.job = options.name;
  engine.program_patience = std::chrono::milliseconds(options.program_timeout_ms);
  return engine;
}

}  // namespace actorflow
