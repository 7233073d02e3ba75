// Runs the stages of a job: in this process, or on all tasks of a cluster; as many parts at once as
// there are threads, within a limit of memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/jobs/engine/job_report.h"
#include "actors/jobs/engine/job_sizes.h"
#include "actors/jobs/engine/parts/part.h"
#include "actors/jobs/messages/stage.h"
#include "actors/jobs/slices/chunk_store.h"
#include "actors/jobs/slices/kept_records.h"
#include "dataflow/values/error.h"
#include "schema/formats/compression.h"

namespace actorflow {

class JobMail;
class Runtime;
struct JobHistory;
struct TaskContext;

struct JobEngineOptions {
  std::string job;  // its name, for error messages
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::string spill_folder = "/tmp";
  std::uint64_t spill_bytes = ~std::uint64_t{0};
  bool records_on_disk = false;  // whatever the memory
  // Parts at a time; 0 = one per thread of the runtime.
  std::size_t slots = 0;
  // The compression of records between machines, used where a sample shrinks by a fifth: LZ4, zstd or
  // none. The coordinating task's setting counts.
  Compression shuffle_compression = Compression::lz4;
  // The number of records of the job that may be left out because a user's function throws for them.
  std::uint64_t skip_bad_records = 0;
  JobReporter* reporter = nullptr;
  // The folder for the coordinating task's journal, and for what parts of all tasks have handed over,
  // until the job has ended well; empty: none. All tasks see this folder.
  std::string work_folder;
  // `resume` goes on with the job whose journal is in the work folder, if there is one. Otherwise the
  // job begins at its beginning: `overwrite` then removes a journal that is there; without it that is an
  // error.
  bool resume = false, overwrite = false;
  // Lines of text, for people, in which an earlier run must agree.
  std::vector<std::string> terms;
  // How long other tasks wait for the coordinating task; and how long that tries a part again whose
  // attempts find no input, or no task that takes them.
  std::chrono::milliseconds patience{60'000};
  // How long the coordinating task waits for the program of a task that is there to come to a stage in
  // which only that task can run a part; and how long another task waits for the coordinating task's
  // program to come to a stage.
  std::chrono::milliseconds program_patience{600'000};
};

// Ends the work of a task on a job that the coordinator has begun anew: the program begins anew, too. No
// std::exception, so that no handler of the job's keeps it.
struct JobBeginsAnew {};

// The result of a stage.
struct StageResult {
  std::vector<PartOutcome> outcomes;  // by part
  std::shared_ptr<KeptRecords> kept;  // null if the stage keeps nothing
  StageNumber number = 0;
};

// Every task of a cluster has an engine, and all run the same stages in the same order; the engine of
// the first task coordinates. Used by one thread, except stop().
class JobEngine {
 public:
  // `task`: null for a job that this process runs alone. Throws invalid_argument for less memory than
  // the parts that run at once need; already_exists and failed_precondition for a journal that is not to
  // be there, or is of another job; data_loss for a damaged one.
  JobEngine(std::shared_ptr<Runtime> runtime, const JobEngineOptions& options,
            std::shared_ptr<const TaskContext> task = nullptr);
  // Ends the job as cancelled unless end() was called.
  ~JobEngine();
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;

  // Whether this task says what the job is.
  bool coordinates() const;
  // Whether other tasks take part.
  bool has_others() const;
  // The tasks that train, which are all but parameter servers and evaluators, in the order of the
  // cluster, which is that of TaskConfig::replicas; and this task's place among them, -1: none.
  struct Trainers {
    std::vector<int> tasks;
    int own = -1;
  };
  Trainers trainers() const;
  // For a part that is computed outside of a stage.
  JobTools tools() const;
  // Announces the job to the other tasks: `contents` is what their join() returns. REQUIRES:
  // coordinates(), before the first run().
  void begin(std::vector<std::byte> contents);
  // Waits for the coordinator's begin() and returns its contents; none if the job has ended well
  // already. Throws unavailable if there is no coordinator. REQUIRES: !coordinates(), before the first
  // run().
  std::optional<std::vector<std::byte>> join();
  // Coordinator: tells the tasks that the job has ended with this status. Other tasks: waits for that,
  // and throws the job's status unless it is ok. Until then other tasks may fetch what this one keeps.
  void end(const Status& status = {});

  // Paths of the files that earlier runs of the job have made, if they have written into this folder.
  std::optional<std::set<std::string>> earlier_files(const std::string& folder) const;
  // The job writes into the folder, so the next run of it may. REQUIRES: coordinates().
  void begin_output(const std::string& folder);

  // For the job's thread: calls `action`, and again after pauses where a disk refuses.
  void insist_on_disk(const std::function<void()>& action);

  // Throws the first error that running a part again could not mend; then no part runs any more. Throws
  // JobBeginsAnew, and unavailable if the coordinator is gone.
  StageResult run(StageSpec stage, std::uint32_t in_plan);
  // Makes the stage that runs fail as cancelled once its running parts have ended. Any thread, or a
  // handler of signals.
  void stop() { *stopped_ = true; }

  Storage& storage();
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  std::uint64_t skipped_records() const { return skipped_; }
  std::uint64_t spilled_bytes() const { return chunks_->spilled_bytes(); }

 private:
  std::shared_ptr<KeptRecords> make_kept(StageNumber number, const StageSpec& stage) const;
  // In engine_actors.cpp.
  void spawn_agent();
  void spawn_coordinator(std::vector<std::byte> contents);
  void open_journal();
  void close_journal(bool ended_well);
  void register_actors();
  void end_actors();

  const std::shared_ptr<Runtime> runtime_;
  const JobEngineOptions options_;
  const std::shared_ptr<JobMail> mail_;
  const std::unique_ptr<JobHistory> history_;  // null: no work folder, or not this task's
  const JobSizes sizes_;
  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<ChunkStore> chunks_;
  const std::shared_ptr<KeptStages> kept_ = std::make_shared<KeptStages>();
  StageNumber stages_ = 0;  // that have run
  std::uint64_t skipped_ = 0;
  bool ended_ = false;
};

}  // namespace actorflow
