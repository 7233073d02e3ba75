// How a job runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "schema/formats/compression.h"

namespace actorflow {

class JobReporter;

constexpr std::size_t most_job_threads = 1024, most_job_partitions = std::size_t{1} << 16;

struct JobOptions {
  std::string name = {};  // of the job, among those of its program
  // What the job asks for with Job::param: "input", "output" and its own.
  std::map<std::string, std::string> parameters;
  // What tables, buffers and records between stages may take together; the rest goes to disk.
  std::size_t memory_bytes = std::size_t{1} << 30;
  // Parts at a time, up to most_job_threads; 0 = one per thread.
  std::size_t threads = 0;
  // Of which files are cut into parts, and shuffled records into partitions. The output depends on them,
  // and on no other setting.
  std::uint64_t split_bytes = std::uint64_t{64} << 20;
  std::uint64_t partition_bytes = std::uint64_t{128} << 20;
  std::size_t partitions = 0;  // up to most_job_partitions; 0 = by bytes
  // Where goes to disk what does not fit into memory, and how much may lie there. "" = TMPDIR or /tmp.
  std::string spill_folder = {};
  std::uint64_t spill_bytes = ~std::uint64_t{0};
  // Records between stages go to disk at once, as if there was no memory for them: for tests.
  bool records_on_disk = false;
  // An output folder that is not empty is emptied first, and a journal that is not resumed is removed,
  // instead of refused.
  bool overwrite = false;
  // Where a journal says what has been done, beside what parts have handed over: until the job has ended
  // well. All tasks see this folder; no other job uses it meanwhile. "" = nowhere.
  std::string work_folder = {};
  // Does not do again what a job with this journal has done. Output and counters are those of one run.
  bool resume = false;
  // How the files of the job's output are compressed, unless it says so itself.
  Compression compression = Compression::none;
  // How records between machines are compressed, where a sample of them shrinks by a fifth: LZ4, zstd,
  // which takes longer and makes them smaller, or not at all. That of the first task counts.
  Compression shuffle_compression = Compression::lz4;
  // Records for which a function of the job throws are left out and counted, up to so many.
  std::uint64_t skip_bad_records = 0;
  // Plans only: the first action whose result the job would see ends it.
  bool explain = false;
  JobReporter* reporter = nullptr;
};

}  // namespace actorflow
