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
  // The values that the job gets from Job::param: "input", "output" and its own.
  std::map<std::string, std::string> parameters;
  // The memory for tables, buffers and records between stages together; what does not fit goes to disk.
  std::size_t memory_bytes = std::size_t{1} << 30;
  // The number of parts that run at a time, up to most_job_threads; 0 = one per thread.
  std::size_t threads = 0;
  // The sizes of the parts that files are cut into, and of the partitions of shuffled records. The
  // output depends on these three settings and on no other.
  std::uint64_t split_bytes = std::uint64_t{64} << 20;
  std::uint64_t partition_bytes = std::uint64_t{128} << 20;
  std::size_t partitions = 0;  // up to most_job_partitions; 0 = by bytes
  // The folder for what does not fit into memory, or several with commas between them, each of which
  // gets the next file in turn; and the most bytes that may lie there in all. "" = TMPDIR or /tmp.
  std::string spill_folder = {};
  std::uint64_t spill_bytes = ~std::uint64_t{0};
  // Records between stages go to disk at once, as if there was no memory for them: for tests.
  bool records_on_disk = false;
  // An output folder that is not empty is emptied first, and a journal that is not resumed is removed,
  // instead of refused.
  bool overwrite = false;
  // The folder of a journal of finished parts and of what these have handed over, so that the job can be
  // resumed; these files, and no others, are removed when the job has ended well. All tasks must see it,
  // and no other job may use it meanwhile. "" = none.
  std::string work_folder = {};
  // Goes on from the journal in work_folder: finished parts do not run again. Output and counters are
  // those of one undisturbed run.
  bool resume = false;
  // How the files of the job's output are compressed, unless it says so itself.
  Compression compression = Compression::none;
  // How records are compressed on their way between machines, if a sample of them shrinks by a fifth:
  // LZ4; zstd, which takes longer and compresses better; or none. The first task's setting counts.
  Compression shuffle_compression = Compression::lz4;
  // Records for which a function of the job throws are left out and counted, up to so many.
  std::uint64_t skip_bad_records = 0;
  // On several tasks: how long the first task waits for a program that is there, but has not come to a
  // stage in which only its own task can run a part, namely its share of a dataset; and how long another
  // task that has come to a stage waits for the program of the first one, which is there, to come to it.
  std::int64_t program_timeout_ms = 600'000;
  // Only makes the plan: the job ends at the first action whose result it would see.
  bool explain = false;
  JobReporter* reporter = nullptr;
};

}  // namespace actorflow
