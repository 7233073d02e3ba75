// What the tasks of a job say to each other. The fields are records: between processes a message is an
// ActorMessage that holds them encoded; within one it is what it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/messages/stage.h"
#include "dataflow/jobs/stage_tracker.h"
#include "dataflow/values/error.h"
#include "schema/formats/compression.h"

namespace actorflow {

// How often agents and the coordinator check whether something that they wait for is late.
constexpr std::chrono::milliseconds job_tick_interval{500};

// What all tasks must agree on, as the first task says it. `contents` comes from the program
// (JobEngine::begin()).
struct JobTerms {
  std::uint64_t part_bytes = 0;   // what a part may hold while it runs
  std::uint64_t chunk_bytes = 0;  // of the chunks that it hands over
  std::string work_folder;        // for chunks that outlive the processes; empty: none
  Compression shuffle_compression = Compression::none;  // of slices on their way to other machines
  std::vector<std::byte> contents;
};

// The first lines in which two descriptions of a job differ; "nothing" for one that has ended before.
std::pair<std::string, std::string> first_difference(const std::vector<std::string>& ours,
                                                     const std::vector<std::string>& theirs);

// An attempt of a part, as messages name it.
struct AttemptId {
  StageNumber stage = 0;
  std::uint64_t part = 0;
  std::uint32_t attempt = 0;

  auto operator<=>(const AttemptId&) const = default;
  PartAttempt in_stage() const { return {part, attempt}; }
};

// agent -> coordinator: this task would like to take part; repeated until it is answered.
struct JoinJob {
  std::string build;     // which program it runs
  std::uint64_t by = 0;  // the agent, among all that its task has had
};
// coordinator -> agent: this is the job; also a sign of life.
struct JobIs {
  JobTerms terms;
  std::uint64_t to = 0;   // who has asked to join; 0: nobody, it is a sign of life
  StageNumber begun = 0;  // to which stage the first task's program has come; 0: to none yet
};

// agent -> coordinator: the task's program has come to this stage; repeated until the stage has ended.
struct StageReady {
  StageNumber stage = 0;
  std::vector<std::string> fingerprint;
  std::uint32_t slots = 1;  // parts that it runs at a time
};

// coordinator -> agent: run this attempt. For each set of slices that it reads, the tasks that hold
// them: of one part, or of all.
struct RunPart {
  AttemptId id;
  std::vector<std::uint64_t> skips;  // numbers of the records of its source that are left out
  std::vector<std::pair<SliceSet, std::vector<std::int32_t>>> inputs;
  std::optional<PartOutcome> made;  // by an earlier attempt, whose files are taken over
};
// coordinator -> agent: this attempt is no longer wanted.
struct CancelPart {
  AttemptId id;
};
// A part of an attempt's input that its holder did not send.
struct MissingPart {
  StageNumber stage = 0;
  std::uint64_t part = 0;
  std::int32_t holder = 0;
};
// agent -> coordinator: the function has returned, or thrown. Its files have not taken their places yet.
struct PartRan {
  AttemptId id;
  Status status;
  std::optional<std::uint64_t> bad_record;  // of its source, if a user's function has thrown for one
  std::string bad_place = {};               // its file and byte; empty: it comes from no file
  bool of_disk = false;                     // the status is what a disk has answered
};
// agent -> coordinator: the function was not called: there is no input for it, or no such stage here.
struct PartNotRun {
  AttemptId id;
  Status status;
  std::optional<MissingPart> missing;
};
// coordinator -> agent: this attempt counts.
struct AcceptPart {
  AttemptId id;
};
// agent -> coordinator: its files are in their places; the last message of an attempt.
struct PartMade {
  AttemptId id;
  Status status;
  PartOutcome outcome;
  WorkDone<std::uint64_t> work;
  bool of_disk = false;  // as of PartRan
  // The partitions for which it has handed over most, and these bytes.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> heaviest = {};
  HeavyKey heavy_key = {};
};
// agent -> coordinator, now and then while it runs parts: the work on the stage so far, and on the job.
// The numbers count from the agent's beginning, so a repeated message does no harm.
struct AgentProgress {
  std::uint64_t by = 0;  // the agent, as of JoinJob
  StageNumber stage = 0;
  WorkDone<std::uint64_t> work;  // of attempts that do not count yet
  double busy_seconds = 0;
  std::uint64_t bytes_spilled = 0, bytes_in_memory = 0;
};

// coordinator -> agent: the stage has ended.
struct StageDone {
  StageNumber stage = 0;
  Status status;
  std::vector<PartOutcome> outcomes;  // by part
  std::uint64_t skipped_records = 0;  // of the job so far
};
// coordinator -> agent: the job has ended; no message follows, and none is wanted.
struct JobEnded {
  Status status;
  std::uint64_t to = 0;  // as of JobIs; 0: all are told
  // The last stage of which this task alone keeps something; 0: none. A program that has not come beyond
  // it has lost that.
  StageNumber last_own = 0;
};

// agent -> coordinator: this task knows that the job has ended, or has given it up.
struct JobLeft {};

// agent -> slice server of another task: slices of these parts, in this order, from a chunk of the first
// on, until there are so many bytes.
struct FetchSlices {
  std::uint64_t request = 0;
  StageNumber stage = 0;
  std::uint64_t partition = 0;
  std::vector<std::uint64_t> parts;
  std::uint64_t first_chunk = 0;
  std::uint64_t most_bytes = 0;
};
// slice server -> agent: at least one slice, if there is one. The bytes are the message's payload.
struct SlicesAre {
  struct Piece {
    std::uint64_t part = 0, records = 0, bytes = 0;
  };
  std::uint64_t request = 0;
  Status status;
  std::vector<Piece> pieces;
  std::uint64_t parts_done = 0;            // of those that were asked for
  std::uint64_t next_chunk = 0;            // of the part after them
  std::uint64_t checksum = 0;              // XXH3 of the slices' bytes
  Compression packed = Compression::none;  // how these travel: as they are, or as a block
};

}  // namespace actorflow
