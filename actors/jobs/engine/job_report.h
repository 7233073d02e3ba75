// Progress reports of a job that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "actors/jobs/messages/work_done.h"

namespace actorflow {

// The progress of a stage. WorkDone sums up the attempts that run or have counted.
struct StageReport : WorkDone<std::uint64_t> {
  std::uint32_t stage = 0;  // of the plan; 0: of none, a sample
  std::string name;
  std::size_t parts = 0, done = 0, running = 0, failed = 0;
  std::size_t backups = 0;  // second attempts of slow parts so far
  std::size_t resumed = 0;  // parts that an earlier run has made
  // Parts of the job so far that were made again because their files were damaged or missing.
  std::size_t not_whole = 0;
  std::size_t tasks = 1;            // that take part
  std::uint64_t input_bytes = 0;    // 0 if unknown
  std::uint64_t bytes_spilled = 0;  // of the job so far, of all its stages
  std::size_t bytes_in_memory = 0;
  double seconds = 0, busy_seconds = 0;  // since it began; of all threads that have run parts
  // The part that has run longest, if it does so for more than 2 s: "part 3 at /job:worker/task:1 since
  // 12 s, which reads 410.0 MB, 40 % of the stage's input", as far as that is known.
  std::string slowest;
  bool is_last = false;  // the stage has ended
};

// Called about twice a second while a stage runs and at its end, on any thread, one at a time.
class JobReporter {
 public:
  virtual ~JobReporter() = default;
  virtual void report(const StageReport& report) = 0;
};

}  // namespace actorflow
