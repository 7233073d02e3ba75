// Runs the stages of a job in this process: as many parts at once as there are threads, within a limit
// of memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/jobs/engine/chunk_store.h"
#include "actors/jobs/engine/part.h"
#include "actors/jobs/engine/stage.h"

namespace actorflow {

class Runtime;

// What one sees of a stage while it runs.
struct StageReport {
  std::uint32_t stage = 0;
  std::string name;
  std::size_t parts = 0, done = 0, running = 0, failed = 0;
  std::uint64_t records_read = 0, bytes_read = 0, input_bytes = 0;
  std::uint64_t bytes_spilled = 0;  // of the job so far
  std::size_t bytes_in_memory = 0;
  double seconds = 0;
  bool is_last = false;  // the stage has ended
};

// Called about twice a second while a stage runs and at its end, on any thread, one at a time.
class JobReporter {
 public:
  virtual ~JobReporter() = default;
  virtual void report(const StageReport& report) = 0;
};

struct JobEngineOptions {
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::string spill_folder = "/tmp";
  std::uint64_t spill_bytes = ~std::uint64_t{0};
  bool records_on_disk = false;  // whatever the memory
  // Parts at a time; 0 = one per thread of the runtime.
  std::size_t slots = 0;
  // Records for which a user's function throws are left out, up to so many of the job.
  std::uint64_t skip_bad_records = 0;
  JobReporter* reporter = nullptr;
};

// For one thread, but for stop().
class JobEngine {
 public:
  // Throws invalid_argument for less memory than the parts that run at once need.
  JobEngine(std::shared_ptr<Runtime> runtime, const JobEngineOptions& options);
  ~JobEngine();
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;

  // Returns what its parts have made, by part. Throws the first error that running a part again could
  // not mend; then no part runs any more.
  std::vector<PartOutcome> run(StageSpec stage);
  // Makes the stage that runs fail as cancelled once its running parts have ended. Any thread, or a
  // handler of signals.
  void stop() { *stopped_ = true; }

  Storage& storage();
  const JobTools& tools() const { return tools_; }
  std::uint64_t skipped_records() const { return skipped_; }
  std::uint64_t spilled_bytes() const { return tools_.chunks->spilled_bytes(); }

 private:
  const std::shared_ptr<Runtime> runtime_;
  const JobEngineOptions options_;
  const std::size_t slots_;
  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
  const JobTools tools_;
  std::atomic<std::uint64_t> skipped_{0};
};

}  // namespace actorflow
