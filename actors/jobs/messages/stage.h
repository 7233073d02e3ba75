// A stage of a job, as the engine sees it: a function that is called for each part, and its results.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/jobs/messages/work_done.h"
#include "dataflow/values/error.h"

namespace actorflow {

class Part;

// The number of a stage, from 1 on, in the order in which the job runs them: the same on all tasks.
using StageNumber = std::uint32_t;

// Records of an earlier stage that a part reads: all records of one part of that stage, or the records
// of all its parts for one partition.
struct SliceSet {
  StageNumber stage = 0;
  bool of_one_part = false;
  std::uint64_t index = 0;  // of the part, or of the partition

  auto operator<=>(const SliceSet&) const = default;
};

// A key of which a part has handed over much more than of others.
struct HeavyKey {
  std::uint64_t partition = 0, bytes = 0;
  std::string key;  // for people; empty: there is none
};

// What the results of a stage's parts may hold together, and how it fails if they hold more.
struct ResultLimit {
  std::uint64_t bytes = 0;
  Status more;
};

struct StageSpec {
  std::string name;  // for people: "read_text, flat_map, reduce_by_key"
  std::vector<std::string> operators = {};  // the same with their places: "map at word_count.cpp:12"
  std::size_t parts = 0;
  std::size_t partitions = 1;  // into which what its parts hand over is divided
  bool keeps = false;          // whether later stages read what its parts hand over
  // The bytes to read in all, 0 if unknown: for an estimate of the time that is left.
  std::uint64_t input_bytes = 0;
  // Lines that describe what the stage computes: equal on all tasks of a job.
  std::vector<std::string> fingerprint;
  // More lines, which must be equal in runs of the job that go on from each other, but not on all tasks,
  // whose files may be copies.
  std::vector<std::string> history;
  // The records of earlier stages that a part reads; none: the stage reads no earlier one.
  std::function<std::vector<SliceSet>(std::size_t part)> inputs;
  // The bytes that a part reads from files; none: unknown.
  std::function<std::uint64_t(std::size_t part)> part_bytes = {};
  // For each part its owner, the only task that runs it and keeps its records; none: any task may run
  // any part.
  std::vector<int> owners = {};
  std::optional<ResultLimit> limit = {};
  // Called for each part, on any thread, for several parts at once; perhaps again, if a task is lost, as
  // long as what the stage has made is kept.
  std::function<void(Part&)> body;
};

// A file that a part has made.
struct FileMade {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;  // XXH64 of its bytes
};

// The result of the accepted attempt of a part, without the chunks that its task keeps.
struct PartOutcome {
  std::vector<std::byte> result;     // for the client
  std::uint64_t records = 0;         // that its last operator gave
  std::vector<std::int64_t> counts;  // by counter
  std::vector<FileMade> files;
  std::uint64_t kept_records = 0, kept_bytes = 0;
  std::uint64_t checksum = 0;  // of all that it has made: each attempt gives the same
  // For jobs with a work folder: the file there with the part's chunks; empty if it has none.
  std::string chunk_file;
};

// How far the parts of a stage have come on one task. Thread-safe.
struct StageProgress {
  WorkDone<std::atomic<std::uint64_t>> work;  // of attempts that do not count yet
  std::atomic<std::int64_t> busy_ns{0};       // of all threads together, with attempts that have failed
};

}  // namespace actorflow
